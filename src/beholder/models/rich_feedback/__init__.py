"""The rich-feedback model: where an image is wrong, which words it missed, and four scores, after RAHF."""
