"""The board as a site: a folder of static pages that makes no request to elsewhere."""
