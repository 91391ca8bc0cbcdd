"""Word lists that come with the package: English words (SCOWL, size 60), and the words that tags rest on."""
