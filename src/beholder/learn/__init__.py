"""Learn: models that predict raters' judgements, trained and tested without leaks.

The package can be called: ``beholder.learn(study, recipe=…)`` is ``beholder.api.learning.learn``.
"""
