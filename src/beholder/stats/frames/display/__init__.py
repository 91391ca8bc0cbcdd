"""How a table of estimates is shown: in a terminal, a notebook, a paper, and as a chart."""
