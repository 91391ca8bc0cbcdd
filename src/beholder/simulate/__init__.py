"""A made-up world of images with known flaws, and made-up people with known habits."""
