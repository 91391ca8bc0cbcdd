"""Rich feedback on single images: predicted by models, next to that of the study's raters."""
