"""Inter-rater agreement: Krippendorff, Fleiss, Gwet, intraclass correlations, Kendall's W."""
