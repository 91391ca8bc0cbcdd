"""A synthetic world of images with known flaws, and simulated raters with known habits."""
