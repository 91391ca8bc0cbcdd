"""Models of preference: CLIP's two towers, ImageReward, and their published weights."""
