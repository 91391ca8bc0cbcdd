"""Results that are made while a rater waits: prompts of their own, the images of workers, and their moderation."""
