"""What each rating method measures: its name, its scale, and how its numbers are written."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

MINUS = "−"
"""The sign, as long as a plus; a hyphen is too short."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How the ratings of one method are read and written."""

    name: str
    unit: str
    """Follows a confidence interval, and is in the head of a column."""
    about: str
    """One sentence: what the number is."""
    factor: float = 1.0
    digits: int = 2
    signed: bool = False
    reference: float | None = None
    """A rating that means something by itself, such as guessing, drawn as a line."""
    reference_word: str = ""
    """The name of that rating."""
    headline: bool = True
    """Whether it is the main measure of its question; otherwise it is in a second table."""
    resampled: str = "raters"
    """The random sample that the confidence interval generalises from."""
    naive: str = "answers independent"
    """What the naive confidence interval, drawn thin, assumes."""
    weighted: bool = False
    """Whether the study's ``analysis.weight`` says what counts the same in it: every rater, or every answer."""
    derived: str = ""
    """Head of a column that ``derive`` fills."""
    derive: Callable[[float], str] | None = None

    def show(self, value: float | None) -> str:
        """The rating as text, without its unit; a dash where there is none."""
        if value is None or math.isnan(value):
            return "–"
        return _number(value * self.factor, self.digits, signed=self.signed)

    def show_difference(self, value: float | None) -> str:
        """A difference of two ratings, always with its sign."""
        if value is None or math.isnan(value):
            return "–"
        return _number(value * self.factor, self.digits, signed=True)

    @property
    def naive_clause(self) -> str:
        """``answers were independent``."""
        return self.naive.replace(" independent", " were independent")

    def show_error(self, value: float | None) -> str:
        """A standard error, with one digit more than a rating and never a sign."""
        if value is None or math.isnan(value):
            return "–"
        return f"{value * self.factor:.{self.digits + 1}f}"

    def show_interval(self, low: float | None, high: float | None) -> str:
        """``42.4 to 50.3``; a dash where the confidence interval is not known."""
        if low is None or high is None:
            return "–"
        if self.signed:
            return self.show_difference_interval(low, high)
        return f"{self.show(low)} to {self.show(high)}"

    def show_difference_interval(self, low: float | None, high: float | None) -> str:
        """The confidence interval of a difference, signed: ``+0.41 to +2.10``, or ``> 0 to +2.10``.

        An interval that excludes 0 never reads as if it touched it, since the verdict is that the two differ.
        """
        if low is None or high is None:
            return "–"
        first, last = self.show_difference(low), self.show_difference(high)
        if low > 0 and not first.strip("0."):
            first = "> 0"
        if high < 0 and not last.strip("0."):
            last = "< 0"
        return f"{first} to {last}"

    def with_unit(self, number: str) -> str:
        """The number with its unit; only the percent sign is repeated with every number."""
        return f"{number} %" if self.unit == "%" and number != "–" else number


def measure_of(method: str) -> Measure:
    """The measure of a method; an unknown one is written as plain numbers."""
    return MEASURES.get(method) or Measure(
        name=method.replace("-", " "), unit="", about=f"The rating by {method}."
    )


def win_probability(rating: float) -> float:
    """Probability of winning against a rival rated 0, without ties: 1 / (1 + e^−rating)."""
    return 1 / (1 + math.exp(-rating)) if rating > -700 else 0.0


def _number(value: float, digits: int, *, signed: bool) -> str:
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return text
    if value < 0:
        return f"{MINUS}{text}"
    return f"+{text}" if signed else text


def _wins(rating: float) -> str:
    return f"{100 * win_probability(rating):.0f} %"


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "error-rate": Measure(
            name="error rate",
            unit="%",
            about=(
                "The error rate of raters, real and generated images weighted equally. At 50 % they are "
                "guessing; above it they take generated images for real more readily than real ones."
            ),
            factor=100,
            digits=1,
            reference=0.5,
            reference_word="guessing",
        ),
        "fake-error-rate": Measure(
            name="generated images taken for real",
            unit="%",
            about="The proportion of the generator's images that raters take for real.",
            factor=100,
            digits=1,
            headline=False,
        ),
        "real-error-rate": Measure(
            name="real images taken for generated",
            unit="%",
            about="The proportion of real images that the raters of this generator take for generated.",
            factor=100,
            digits=1,
            headline=False,
        ),
        "d-prime": Measure(
            name="d′",
            unit="",
            about=(
                "How well raters discriminate the generator's images from real ones, independently of response "
                "bias: 0 is not at all, so lower is better for the generator."
            ),
            headline=False,
        ),
        "modal-exposure": Measure(
            name="modal exposure",
            unit="ms",
            about=(
                "The modal exposure of the raters' staircases, averaged over their blocks and over raters "
                "(HYPE_time): the longer raters need, the more realistic the images."
            ),
            digits=0,
            naive="not defined",
        ),
        "exposure-threshold": Measure(
            name="exposure threshold",
            unit="ms",
            about="The exposure at the staircase's target accuracy, by maximum likelihood, averaged over raters.",
            digits=0,
            headline=False,
            naive="not defined",
        ),
        "pass-rate": Measure(
            name="images passed over",
            unit="%",
            about=(
                "100 % less the mean credit that the generator's images have from presses in a rapid series. "
                "The credit for a press is divided among the images that may have caused it, so only "
                "differences are meaningful."
            ),
            factor=100,
            digits=1,
            weighted=True,
        ),
        "option-share": Measure(
            name="answers that count",
            unit="%",
            about=(
                "The proportion of the answers about the generator's images that name one of the options that the "
                "question counts; who cannot tell is among them."
            ),
            factor=100,
            digits=1,
            weighted=True,
        ),
        "mean-preference": Measure(
            name="mean preference",
            unit="steps",
            about=(
                "The mean of the comparisons of the generator with its rivals, from −2 (the other much better) "
                "to 2 (much better)."
            ),
            signed=True,
            reference=0.0,
            reference_word="even",
            headline=False,
            weighted=True,
        ),
        "win-rate": Measure(
            name="win rate",
            unit="%",
            about="The proportion of comparisons with other generators that it wins; a tie counts half.",
            factor=100,
            digits=1,
            reference=0.5,
            reference_word="even",
            headline=False,
        ),
        "bradley-terry": Measure(
            name="Bradley–Terry rating",
            unit="log odds",
            about=(
                "A strength fitted to all votes, in natural-log odds about an average of 0: of two generators "
                "that differ by 1, the stronger wins e : 1, or 73 % of the votes that are not ties."
            ),
            signed=True,
            reference=0.0,
            reference_word="average",
            derived="wins against the average",
            derive=_wins,
        ),
        "plackett-luce": Measure(
            name="Plackett–Luce rating",
            unit="log odds",
            about=(
                "A strength fitted to all rankings, in natural-log odds about an average of 0: of two "
                "generators that differ by 1, the stronger is ranked first e : 1, or 73 % of the time."
            ),
            signed=True,
            reference=0.0,
            reference_word="average",
            derived="ranked above the average",
            derive=_wins,
        ),
        "mean-opinion": Measure(
            name="mean opinion score",
            unit="points",
            about="The mean of the points that raters gave to the generator's images.",
            weighted=True,
        ),
        "published-mean": Measure(
            name="mean of published scores",
            unit="points",
            about=(
                "The mean of the scores that were published for the generator's images. Who gave which score "
                "was not published, so raters cannot be resampled: the confidence interval is over prompts, "
                "judged by the same raters, and does not include the variation between raters."
            ),
            resampled="prompts",
            naive="images independent",
        ),
    }
)
"""The methods of the rank stage. One that is missing here is shown as plain numbers."""
