"""Human-grounded evaluation of generated images."""

__version__ = "0.1.0"
