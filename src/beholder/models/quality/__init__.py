"""The packaged scorer of image quality: a head on the features of a packaged network, trained on AGIQA-3K."""
