"""The generators of the synthetic world, by their rates of flaws (no tables: a painter starts quickly)."""

from beholder.simulate.painter import Policy

GENERATORS = (
    Policy("aurora", implausible=0.20, misaligned=0.02, composition=0.10, haze=0.00, severity=0.45),
    Policy("borealis", implausible=0.75, misaligned=0.07, composition=0.20, haze=0.20, severity=0.50),
    Policy("cirrus", implausible=1.40, misaligned=0.13, composition=0.30, haze=0.45, severity=0.55),
    Policy("dune", implausible=1.90, misaligned=0.21, composition=0.40, haze=0.75, severity=0.65),
    Policy("ember", implausible=3.50, misaligned=0.32, composition=0.55, haze=1.00, severity=0.90),
)
"""Five generators, best first."""

KNOWN_BAD = Policy("known-bad", implausible=4.0, misaligned=0.5, composition=0.5, haze=1.0, severity=0.95)
"""The generator whose images check raters: nobody who looks takes them for real."""
