"""Learn: models that predict raters' judgements, trained and tested without leaks."""
