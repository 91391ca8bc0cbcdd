"""The board: every measure of every entry by slice, pairs of entries, claims, agreement with people, precision."""

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Table
from beholder.tables.schemas.learn import DIRECTIONS

SOURCES = ("people", "scorer", "model", "distance", "stated")
"""Where a measure comes from: raters, a scorer, a model trained on the study's labels, a distance between sets; or
stated by others and not measured here."""

FAMILIES = ("all", "style", "tag")
"""Families of slices."""

_SLICE = (
    Column("measure", TEXT, "Name of the measure."),
    Column("family", TEXT, "Family of the slice.", allowed=FAMILIES),
    Column("slice", TEXT, "Style or tag; `all` for all prompts."),
)

BOARD = Table(
    name="board",
    about="One row per entry, measure and slice, with the confidence interval over prompts and raters.",
    stage="board",
    columns=(
        *_SLICE,
        Column("source", TEXT, "Where the measure comes from.", allowed=SOURCES),
        Column("better", TEXT, "Which values are better, where known.", nullable=True, allowed=DIRECTIONS),
        Column("entry", TEXT, "The generator."),
        Column("value", NUMBER, "The value; empty where the slice has too few prompts.", nullable=True),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval.", nullable=True),
        Column("level", NUMBER, "Level of the confidence intervals.", low=0, high=1),
        Column("se", NUMBER, "Standard error over prompts and raters.", nullable=True, low=0),
        Column("se_prompts", NUMBER, "The same over prompts alone.", nullable=True, low=0),
        Column("se_raters", NUMBER, "The same over raters alone.", nullable=True, low=0),
        Column("rank_low", INTEGER, "Best rank that is not ruled out.", nullable=True, low=1),
        Column("rank_high", INTEGER, "Worst rank that is not ruled out.", nullable=True, low=1),
        Column("chance_best", NUMBER, "Chance to be the best entry.", nullable=True, low=0, high=1),
        Column("prompts", INTEGER, "Prompts it rests on.", nullable=True, low=0),
        Column("raters", INTEGER, "Raters it rests on; 0 where a program scores.", nullable=True, low=0),
        Column("answers", INTEGER, "Answers or scores it rests on.", nullable=True, low=0),
        Column("note", TEXT, "What the numbers do not say, such as why there are none.", nullable=True),
    ),
    key=("measure", "family", "slice", "entry"),
)

BOARD_PAIRS = Table(
    name="board_pairs",
    about="One row per pair of entries, measure and slice: are they significantly different?",
    stage="board",
    columns=(
        *_SLICE,
        Column("entry", TEXT, "One entry: the better one, or the higher where neither is better."),
        Column("other", TEXT, "The other entry."),
        Column("difference", NUMBER, "Value of the one minus the other."),
        Column("low", NUMBER, "Lower end of its simultaneous confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its simultaneous confidence interval.", nullable=True),
        Column("se", NUMBER, "Its standard error over prompts and raters.", nullable=True, low=0),
        Column("degrees", NUMBER, "Degrees of freedom of that.", nullable=True, low=1),
        Column("p", NUMBER, "Two-sided p-value of this pair alone.", nullable=True, low=0, high=1),
        Column("p_adjusted", NUMBER, "The same, adjusted for all pairs.", nullable=True, low=0, high=1),
        Column("separated", FLAG, "Whether the confidence interval excludes 0."),
        Column("fragile_prompts", INTEGER, "Fewest prompts whose removal undoes it.", nullable=True, low=1),
        Column("fragile_raters", INTEGER, "Fewest raters whose removal undoes it.", nullable=True, low=1),
    ),
    key=("measure", "family", "slice", "entry", "other"),
)

VERDICTS = ("holds", "refuted", "undecided")

CLAIMS = Table(
    name="claims",
    about="One row per claim of the study file, with its one-sided test.",
    stage="board",
    columns=(
        Column("claim", TEXT, "The claim in words."),
        Column("kind", TEXT, "What is claimed.", allowed=("better", "no-worse", "good-enough")),
        Column("measure", TEXT, "The measure."),
        Column("entry", TEXT, "The entry."),
        Column("other", TEXT, "The entry it is compared with.", nullable=True),
        Column("threshold", NUMBER, "What the advantage, or the value, is claimed to exceed."),
        Column("estimate", NUMBER, "The advantage, or the value; higher is better.", nullable=True),
        Column("bound", NUMBER, "Its lower one-sided confidence bound.", nullable=True),
        Column("p", NUMBER, "One-sided p-value of this claim alone.", nullable=True, low=0, high=1),
        Column("p_adjusted", NUMBER, "The same, Holm-adjusted over all claims.", nullable=True, low=0, high=1),
        Column("verdict", TEXT, "What follows.", allowed=VERDICTS),
    ),
    key=("claim",),
)

UTILITIES = Table(
    name="utilities",
    about="One row per entry: is it on the Pareto front, its utility, and for which weights it wins.",
    stage="board",
    columns=(
        Column("entry", TEXT, "The generator."),
        Column("pareto", FLAG, "Whether no other entry is at least as good by every measure and better by one."),
        Column("surely_dominated", FLAG, "Whether one is, whatever the true values inside the intervals."),
        Column("utility", NUMBER, "Weighted mean of its standardised measures.", nullable=True),
        Column("wins", NUMBER, "Proportion of all weights for which it wins.", low=0, high=1),
        Column("lead", NUMBER, "The most it can lead by; below 0 where no weights let it win."),
        Column("best_weights", TEXT, "The weights with that lead, as JSON."),
    ),
    key=("entry",),
)

BOARD_AGREEMENT = Table(
    name="board_agreement",
    about="One row per automatic measure and measure by people: do they put the entries in the same order?",
    stage="board",
    columns=(
        Column("measure", TEXT, "The scorer, model or distance."),
        Column("people", TEXT, "The measure by people."),
        Column("kendall", NUMBER, "Kendall's τ of both orders of the entries.", nullable=True, low=-1, high=1),
        Column("entries", INTEGER, "Entries that both rate.", low=2),
        Column("misordered", INTEGER, "Pairs that people separate and the measure puts the other way.", low=0),
        Column("image_pearson", NUMBER, "Correlation over single images.", nullable=True, low=-1, high=1),
        Column("images", INTEGER, "Images behind that.", nullable=True, low=2),
        Column("words", TEXT, "What follows, in words."),
    ),
    key=("measure", "people"),
)

CURVES = Table(
    name="curves",
    about="One row per measure and number of prompts and raters: the half-width to expect.",
    stage="board",
    columns=(
        Column("measure", TEXT, "The measure."),
        Column(
            "contrast",
            TEXT,
            "Of what: `value` of one entry, or `difference` of the two best.",
            allowed=("value", "difference"),
        ),
        Column("prompts", INTEGER, "Number of prompts.", low=2),
        Column("raters", INTEGER, "Number of raters; 0 where a program scores.", low=0),
        Column("half_width", NUMBER, "Half-width of the confidence interval.", low=0),
        Column("low", NUMBER, "Lower end of the confidence interval of that.", low=0),
        Column("high", NUMBER, "Upper end of the confidence interval of that.", low=0),
        Column("now", FLAG, "Whether these are the numbers of this board."),
    ),
    key=("measure", "contrast", "prompts", "raters"),
)

CHECKS = (
    *("overfitting", "ceiling", "saturation", "drift"),
    *("best-of-n", "stated", "rewritten"),
)
"""What is checked of a board: its measures, then its entries."""

BOARD_MARKS = Table(
    name="board_marks",
    about="One row per check of the board, measure and entry: is there something that a reader must know?",
    stage="board",
    columns=(
        Column("check", TEXT, "What was checked.", allowed=CHECKS),
        Column("measure", TEXT, "The measure; `all` where the check is about the entry itself."),
        Column("entry", TEXT, "The generator; `all` where the check is about the measure itself."),
        Column("estimate", NUMBER, "How large the effect is.", nullable=True),
        Column(
            "low", NUMBER, "Lower end of its confidence interval; of a one-sided test, the bound.", nullable=True
        ),
        Column("high", NUMBER, "Upper end; empty where the test is one-sided the other way.", nullable=True),
        Column("p", NUMBER, "p-value of this row alone.", nullable=True, low=0, high=1),
        Column(
            "p_adjusted",
            NUMBER,
            "The same, Holm-adjusted over the rows tested together.",
            nullable=True,
            low=0,
            high=1,
        ),
        Column("raised", FLAG, "Whether the mark is raised."),
        Column("words", TEXT, "What follows, in words."),
    ),
    key=("check", "measure", "entry"),
)

BOARD_POWERED = Table(
    name="board_powered",
    about=(
        "One row per measure by people, scorer and entry: the value from raters and scores together, "
        "beside that from "
        "raters alone."
    ),
    stage="board",
    columns=(
        Column("measure", TEXT, "The measure by people."),
        Column("scorer", TEXT, "The automatic measure whose scores are added."),
        Column("entry", TEXT, "The generator."),
        Column("value", NUMBER, "The prediction-powered value."),
        Column("low", NUMBER, "Lower end of its CI over prompts and raters.", nullable=True),
        Column("high", NUMBER, "Upper end of that CI.", nullable=True),
        Column("se", NUMBER, "Its standard error.", nullable=True, low=0),
        Column("people_value", NUMBER, "The value from raters alone."),
        Column("people_low", NUMBER, "Lower end of its CI over prompts and raters.", nullable=True),
        Column("people_high", NUMBER, "Upper end of that CI.", nullable=True),
        Column(
            "width_ratio", NUMBER, "Width of the first CI divided by that of the second.", nullable=True, low=0
        ),
        Column("tuning", NUMBER, "λ: the weight of the scores; 0 leaves them out.", low=0, high=1),
        Column("level", NUMBER, "Level of the confidence intervals.", low=0, high=1),
        Column("prompts", INTEGER, "Judged prompts.", low=2),
        Column("raters", INTEGER, "Raters.", low=1),
        Column("further_prompts", INTEGER, "Scored prompts that nobody judged.", low=2),
        Column("chosen", FLAG, "Whether it is the scorer that the board prints."),
    ),
    key=("measure", "scorer", "entry"),
)

BOARD_COSTS = Table(
    name="board_costs",
    about=(
        "One row per entry and what an image of it cost: time, energy by method, price; lower is better. "
        "Differs from "
        "run to run."
    ),
    stage="board",
    columns=(
        Column("measure", TEXT, "What was spent, with the unit and, of energy, the method."),
        Column("entry", TEXT, "The generator."),
        Column("value", NUMBER, "Mean of all images.", low=0),
        Column("low", NUMBER, "Lower end of its CI over prompts.", nullable=True),
        Column("high", NUMBER, "Upper end of that CI.", nullable=True),
        Column("level", NUMBER, "Level of the confidence intervals.", low=0, high=1),
        Column("se", NUMBER, "Standard error over prompts.", nullable=True, low=0),
        Column("rank_low", INTEGER, "Best rank that is not ruled out.", nullable=True, low=1),
        Column("rank_high", INTEGER, "Worst rank that is not ruled out.", nullable=True, low=1),
        Column("prompts", INTEGER, "Prompts it rests on.", low=1),
        Column("images", INTEGER, "Images it rests on.", low=1),
        Column("pareto", FLAG, "On the Pareto front of all measures of the board and this one.", nullable=True),
        Column(
            "surely_dominated",
            FLAG,
            "Dominated, whatever the true values inside the intervals.",
            nullable=True,
        ),
    ),
    key=("measure", "entry"),
    varies=True,
)

DOSE_RESPONSES = Table(
    name="dose_responses",
    about="One row per controlled setting and measure: does the measure see the change, and how strongly?",
    stage="board",
    columns=(
        Column("setting", TEXT, "What was changed between the variants."),
        Column("measure", TEXT, "The measure."),
        Column("source", TEXT, "Where the measure comes from.", allowed=SOURCES),
        Column(
            "slope", NUMBER, "Change from the first to the last variant, in standard deviations.", nullable=True
        ),
        Column("low", NUMBER, "Lower end of its CI over prompts and raters.", nullable=True),
        Column("high", NUMBER, "Upper end of that CI.", nullable=True),
        Column("p", NUMBER, "Two-sided p-value.", nullable=True, low=0, high=1),
        Column("p_adjusted", NUMBER, "The same, Holm-adjusted over the measures.", nullable=True, low=0, high=1),
        Column("level", NUMBER, "Level of the confidence intervals.", low=0, high=1),
        Column("prompts", INTEGER, "Prompts with all variants.", low=0),
        Column("raters", INTEGER, "Raters; 0 where a program scores.", low=0),
        Column("first_seen", TEXT, "First variant that differs significantly from the first one.", nullable=True),
        Column("words", TEXT, "What follows, in words."),
    ),
    key=("setting", "measure"),
)

DOSE_STEPS = Table(
    name="dose_steps",
    about="One row per controlled setting, measure and variant: its value, and its difference from the "
    "first variant.",
    stage="board",
    columns=(
        Column("setting", TEXT, "What was changed between the variants."),
        Column("measure", TEXT, "The measure."),
        Column("entry", TEXT, "The generator of this variant."),
        Column("dose", NUMBER, "Value of the setting."),
        Column("value", NUMBER, "Value of the measure."),
        Column("low", NUMBER, "Lower end of its CI over prompts and raters.", nullable=True),
        Column("high", NUMBER, "Upper end of that CI.", nullable=True),
        Column(
            "difference", NUMBER, "Less the value of the first variant, in standard deviations.", nullable=True
        ),
        Column("difference_low", NUMBER, "Lower end of the CI of that.", nullable=True),
        Column("difference_high", NUMBER, "Upper end of the CI of that.", nullable=True),
        Column(
            "p_adjusted", NUMBER, "Its p-value, Holm-adjusted over the variants.", nullable=True, low=0, high=1
        ),
        Column("detected", FLAG, "Whether the difference is significant."),
    ),
    key=("setting", "measure", "entry"),
)
