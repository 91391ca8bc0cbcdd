"""Workers: programs of any language that generate, score or encode, reached by one small wire protocol."""
