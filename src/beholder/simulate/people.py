"""Names by which the study server imports simulated raters, from :mod:`beholder.simulate.raters`."""

from beholder.simulate.raters import BAD, SUBTLE, SimulatedRater, draw_raters

__all__ = ["BAD", "SUBTLE", "Person", "draw_people"]

Person = SimulatedRater
draw_people = draw_raters
