"""What chains the steps of an improvement: filter, repair, proof and page."""
