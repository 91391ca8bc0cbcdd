"""What is asked: the study file, the kinds of questions, and the protocols."""
