"""An arena: which pair of entries a voter is shown, what votes say of entries, and which voters stand out."""
