"""How good predictions are: calibration, conformal intervals, prediction-powered inference, heatmaps, keywords."""
