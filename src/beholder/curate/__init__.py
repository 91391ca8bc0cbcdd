"""From prompt sets to the prompts of a study: cleaned, checked, without duplicates, tagged and balanced."""
