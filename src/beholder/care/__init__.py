"""Care for raters: fair pay, prototype rounds, reputation, quality over months, credit and governance."""
