"""Statistics on data frames: named columns in, frozen tables with confidence intervals out."""
