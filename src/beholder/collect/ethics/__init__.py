"""What a review board asks for, written from the study itself."""
