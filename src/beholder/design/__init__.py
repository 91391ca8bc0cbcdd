"""From images to trials: making a study, and drawing who is to be shown what."""
