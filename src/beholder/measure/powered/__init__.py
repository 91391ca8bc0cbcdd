"""Ratings from few raters and many automatic scores: prediction-powered inference."""
