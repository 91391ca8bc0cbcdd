"""The warning of images unlike those a model was trained on: a detector trained on altered copies of these."""
