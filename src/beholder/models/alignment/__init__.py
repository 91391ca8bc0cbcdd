"""The packaged scorer of image–text alignment: what an ImageNet network sees, compared with the prompt."""
