"""Learn: models that judge images as people do, trained and tested without leaks."""
