"""Colourfulness by Hasler and Süsstrunk (2003): M = σ + 0.3 µ of the opponent colours."""

import numpy as np

from beholder.scorers.planes import Planes


def colourfulness(planes: Planes) -> float:
    """√(σ²_rg + σ²_yb) + 0.3 √(µ²_rg + µ²_yb), with rg = R − G and yb = (R + G)/2 − B.

    The authors' scale: 0 not, 15 slightly, 33 moderately, 45 averagely, 59 quite, 82 highly, 109 extremely so.
    """
    red, green, blue = planes.colours
    red_green, yellow_blue = red - green, (red + green) / 2 - blue
    spread = np.hypot(np.std(red_green), np.std(yellow_blue))
    return float(spread + 0.3 * np.hypot(np.mean(red_green), np.mean(yellow_blue)))
