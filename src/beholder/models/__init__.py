"""Images read, prepared and encoded; the only library that loads torch, and only when a network is asked for."""
