"""What the answers mean, singly and together: raters, judgements, labels, regions, thresholds and agreement."""

from beholder.tables.schema import BYTES, FLAG, INTEGER, NUMBER, TEXT, TEXTS, Column, Reference, Table

AGREEMENT_KINDS = ("majority-share", "correlation")
"""What ``raters.agreement`` is: of choices the proportion in line with the others' majority; or a correlation."""

RATERS = Table(
    name="raters",
    about="One row per rater and question: how the rater answered, and whether the answers are used.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("rater", TEXT, "The rater."),
        Column("used", FLAG, "Whether the rater's answers enter the results."),
        Column("reasons", TEXTS, "Why not: the screening rules by which the rater is excluded."),
        Column("answers", INTEGER, "Valid answers to test trials.", low=0),
        Column("median_seconds", NUMBER, "Median response time.", nullable=True, low=0),
        Column("same_share", NUMBER, "Proportion of the most frequent answer.", nullable=True, low=0, high=1),
        Column("skipped", NUMBER, "Proportion of test trials skipped.", nullable=True, low=0, high=1),
        Column("attention_failures", INTEGER, "Attention checks missed or skipped.", nullable=True, low=0),
        Column("gold_share", NUMBER, "Proportion correct on gold trials.", nullable=True, low=0, high=1),
        Column(
            "qualification_share",
            NUMBER,
            "Lowest proportion correct over the classes; a skipped trial is not correct.",
            nullable=True,
            low=0,
            high=1,
        ),
        Column(
            "repeat_share", NUMBER, "Proportion of repeated trials answered alike.", nullable=True, low=0, high=1
        ),
        Column("agreement", NUMBER, "Agreement with the other raters.", nullable=True),
        Column("agreement_kind", TEXT, "What that number is.", nullable=True, allowed=AGREEMENT_KINDS),
        Column("notes", TEXTS, "Screening rules that could not be applied, and why.", nullable=True),
    ),
    key=("question", "rater"),
)

VALUE_KINDS = ("detection", "vote", "graded-vote", "rating", "rank", "credit", "category")
"""What ``judgements.value`` means: see ``beholder.study.kinds.coding``."""

JUDGEMENTS = Table(
    name="judgements",
    about=(
        "One row per judgement: what a valid answer to a test trial says of an image or a pair of images, as a "
        "number. All later stages read answers here. A ranking or a sweep has one row per image."
    ),
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("rater", TEXT, "Who judged."),
        Column("session", TEXT, "The session."),
        Column("trial", TEXT, "The trial."),
        Column("attempt", INTEGER, "As in `answers`.", low=1),
        Column("place", INTEGER, "Position of the image among those shown, from 0.", low=0),
        Column("image", TEXT, "The image judged; of a pair the first, as shown."),
        Column("other", TEXT, "The image it was compared with; empty unless two were compared.", nullable=True),
        Column(
            "value",
            NUMBER,
            "By `value_kind`: 1 called generated, 0 real; 1 `image` preferred, −1 `other`, 0 a tie (graded from "
            "−2 to 2); a rating; a rank, 1 the best; a credit from 0 to 1; the place of a named option, from 0.",
        ),
        Column("value_kind", TEXT, "What the value means.", allowed=VALUE_KINDS),
        Column("expected", NUMBER, "The right value, where there is one.", nullable=True),
        Column(
            "exposure_ms",
            NUMBER,
            "How long the image was to be shown, where that was limited.",
            nullable=True,
            low=0,
        ),
        Column("used", FLAG, "Whether it enters the results."),
        Column("reason", TEXT, "Why the rater is excluded; empty where it is used.", nullable=True),
    ),
    key=("trial", "session", "aspect", "attempt", "place"),
    references=(
        Reference(("trial",), "trials", ("trial",)),
        Reference(("session", "rater"), "sessions", ("session", "rater")),
        Reference(("image",), "images", ("image",)),
        Reference(("other",), "images", ("image",)),
    ),
)

LABELS = Table(
    name="labels",
    about="One row per consolidated label: of an image, of a pair of images, or of a word of an image's prompt.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "How the label was made: share, mean, preference, …"),
        Column("image", TEXT, "The image."),
        Column("other", TEXT, "The image it was compared with.", nullable=True),
        Column("word", INTEGER, "The word of the prompt, from 0.", nullable=True, low=0),
        Column("value", NUMBER, "The soft label: a proportion, or a mean on the aspect's scale."),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval.", nullable=True),
        Column("choice", TEXT, "The hard label: the majority's choice.", nullable=True),
        Column("ties", NUMBER, "Proportion of ties among the answers.", nullable=True, low=0, high=1),
        Column("answers", INTEGER, "Answers it rests on; 0 where there were no raters.", low=0),
        Column("raters", INTEGER, "Raters it rests on; 0 where there were none.", low=0),
        Column("doubt", NUMBER, "Probability that the hard label is wrong.", nullable=True, low=0, high=1),
        Column("suggested", TEXT, "A more likely hard label: the label is a likely label error.", nullable=True),
    ),
    key=("question", "aspect", "method", "image", "other", "word"),
    references=(Reference(("image",), "images", ("image",)), Reference(("other",), "images", ("image",))),
)

REGIONS = Table(
    name="regions",
    about="One row per heatmap: where in an image raters (or the ground truth) see something wrong.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "Implausibility or misalignment."),
        Column("image", TEXT, "The image."),
        Column("heatmap", BYTES, "An 8-bit greyscale PNG; 255 where all raters marked."),
        Column("width", INTEGER, "Width of the heatmap.", low=1),
        Column("height", INTEGER, "Height of the heatmap.", low=1),
        Column("raters", INTEGER, "Raters it rests on.", low=0),
    ),
    key=("question", "aspect", "image"),
    references=(Reference(("image",), "images", ("image",)),),
    rows_per_group=256,
)

THRESHOLDS = Table(
    name="thresholds",
    about="One row per rater and block of timed trials: the exposure to which the block converged.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("rater", TEXT, "The rater."),
        Column("session", TEXT, "The session."),
        Column("block", INTEGER, "The block, from 0.", low=0),
        Column("generator", TEXT, "The generator judged; empty where several were.", nullable=True),
        Column("answers", INTEGER, "Valid answers to test trials of the block.", low=1),
        Column("right_share", NUMBER, "Proportion of them that were correct.", low=0, high=1),
        Column("modal_ms", NUMBER, "The most frequent exposure, in ms: HYPE_time's score.", low=0),
        Column(
            "reversal_ms", NUMBER, "Mean exposure at the last reversals of the staircase.", nullable=True, low=0
        ),
        Column(
            "threshold_ms",
            NUMBER,
            "Exposure for the target proportion correct, by maximum likelihood.",
            nullable=True,
            low=0,
        ),
        Column("reversals", INTEGER, "Number of reversals of the staircase.", low=0),
        Column("floor_share", NUMBER, "Proportion of trials at the shortest exposure.", low=0, high=1),
        Column("ceiling_share", NUMBER, "Proportion of trials at the longest exposure.", low=0, high=1),
        Column("converged", FLAG, "Whether the block converged: enough reversals, away from both limits."),
    ),
    key=("question", "session", "block"),
)

AGREEMENT = Table(
    name="agreement",
    about="One row per measure of inter-rater agreement.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("statistic", TEXT, "Which measure: krippendorff-alpha-nominal, …"),
        Column("people", TEXT, "Whose answers: `all`, or `used` (after screening).", allowed=("all", "used")),
        Column("value", NUMBER, "The measure; empty where it is not defined.", nullable=True),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval.", nullable=True),
        Column("answers", INTEGER, "Answers it rests on.", low=0),
        Column("items", INTEGER, "Items with at least two answers.", low=0),
        Column("raters", INTEGER, "Raters it rests on.", low=0),
    ),
    key=("question", "aspect", "statistic", "people"),
)
