"""What answers say, one by one and together: raters, judgements, labels, regions, thresholds and agreement."""

from beholder.tables.schema import BYTES, FLAG, INTEGER, NUMBER, TEXT, TEXTS, Column, Reference, Table

AGREEMENT_KINDS = ("majority-share", "correlation")
"""What ``raters.agreement`` is: of choices the share in line with the others' majority; or a correlation."""

RATERS = Table(
    name="raters",
    about="One row a person and question: how they answered, and whether their answers are used.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("rater", TEXT, "The person."),
        Column("used", FLAG, "Whether their answers enter the results."),
        Column("reasons", TEXTS, "Why not: the screening rules that spoke against them."),
        Column("answers", INTEGER, "Valid answers to test trials.", low=0),
        Column("median_seconds", NUMBER, "Median time for an answer.", nullable=True, low=0),
        Column("same_share", NUMBER, "Share of their most frequent answer.", nullable=True, low=0, high=1),
        Column("skipped", NUMBER, "Proportion of their test trials skipped.", nullable=True, low=0, high=1),
        Column("attention_failures", INTEGER, "Attention checks missed or skipped.", nullable=True, low=0),
        Column("gold_share", NUMBER, "Share right on gold trials.", nullable=True, low=0, high=1),
        Column(
            "qualification_share",
            NUMBER,
            "Lowest share right over the classes; a skipped trial is not right.",
            nullable=True,
            low=0,
            high=1,
        ),
        Column("repeat_share", NUMBER, "Share of repeated trials answered alike.", nullable=True, low=0, high=1),
        Column("agreement", NUMBER, "Agreement with the others, left out themselves.", nullable=True),
        Column("agreement_kind", TEXT, "What that number is.", nullable=True, allowed=AGREEMENT_KINDS),
        Column("notes", TEXTS, "Screening rules that could not be applied, and why.", nullable=True),
    ),
    key=("question", "rater"),
)

VALUE_KINDS = ("detection", "vote", "graded-vote", "rating", "rank", "credit")
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
        Column("place", INTEGER, "Place of the image among those shown, from 0.", low=0),
        Column("image", TEXT, "The image judged; of a pair the first, as shown."),
        Column("other", TEXT, "The image it was compared with; empty unless two were compared.", nullable=True),
        Column(
            "value",
            NUMBER,
            "By `value_kind`: 1 called generated, 0 real; 1 `image` preferred, −1 `other`, 0 a tie (graded from "
            "−2 to 2); a rating; a rank, 1 the best; a credit from 0 to 1.",
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
        Column("reason", TEXT, "Why not: what speaks against the rater; empty where it is used.", nullable=True),
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
    about="One row a consolidated label: of an image, of a pair of images, or of a word of an image's prompt.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "How the label was made: share, mean, preference, …"),
        Column("image", TEXT, "The image."),
        Column("other", TEXT, "The image it was compared with.", nullable=True),
        Column("word", INTEGER, "The word of the prompt, from 0.", nullable=True, low=0),
        Column("value", NUMBER, "The soft label: a share, or a mean on the aspect's scale."),
        Column("low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval.", nullable=True),
        Column("choice", TEXT, "The hard label: the majority's choice.", nullable=True),
        Column("ties", NUMBER, "Share of ties among the answers.", nullable=True, low=0, high=1),
        Column("answers", INTEGER, "Answers it rests on; 0 where no people were asked.", low=0),
        Column("raters", INTEGER, "People it rests on; 0 where no people were asked.", low=0),
        Column("doubt", NUMBER, "Chance that the hard label is wrong.", nullable=True, low=0, high=1),
        Column("suggested", TEXT, "A likelier hard label: worth a second look.", nullable=True),
    ),
    key=("question", "aspect", "method", "image", "other", "word"),
    references=(Reference(("image",), "images", ("image",)), Reference(("other",), "images", ("image",))),
)

REGIONS = Table(
    name="regions",
    about="One row a heatmap: where in an image people (or the made-up truth) see something wrong.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "Implausibility or misalignment."),
        Column("image", TEXT, "The image."),
        Column("heatmap", BYTES, "An 8-bit greyscale PNG; 255 where all people marked."),
        Column("width", INTEGER, "Width of the heatmap.", low=1),
        Column("height", INTEGER, "Height of the heatmap.", low=1),
        Column("raters", INTEGER, "People it rests on.", low=0),
    ),
    key=("question", "aspect", "image"),
    references=(Reference(("image",), "images", ("image",)),),
    rows_a_group=256,
)

THRESHOLDS = Table(
    name="thresholds",
    about="One row a person's block of timed trials: the exposure at which they settled.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("rater", TEXT, "The person."),
        Column("session", TEXT, "The session."),
        Column("block", INTEGER, "The block, from 0.", low=0),
        Column("generator", TEXT, "The generator judged; empty where several were.", nullable=True),
        Column("answers", INTEGER, "Valid answers to test trials of the block.", low=1),
        Column("right_share", NUMBER, "Share of them that were right.", low=0, high=1),
        Column("modal_ms", NUMBER, "The most frequent exposure, in ms: HYPE_time's score.", low=0),
        Column("reversal_ms", NUMBER, "Mean exposure at the last turns of the staircase.", nullable=True, low=0),
        Column(
            "threshold_ms", NUMBER, "Exposure for the target share right, by likelihood.", nullable=True, low=0
        ),
        Column("reversals", INTEGER, "How often the staircase turned.", low=0),
        Column("floor_share", NUMBER, "Share of trials at the shortest exposure.", low=0, high=1),
        Column("ceiling_share", NUMBER, "Share of trials at the longest exposure.", low=0, high=1),
        Column("converged", FLAG, "Whether the block settled: it turned often enough, away from both ends."),
    ),
    key=("question", "session", "block"),
)

AGREEMENT = Table(
    name="agreement",
    about="One row a measure of how far people agree.",
    stage="consolidate",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("statistic", TEXT, "Which measure: krippendorff-alpha-nominal, …"),
        Column("people", TEXT, "Whose answers: `all`, or `used` (after screening).", allowed=("all", "used")),
        Column("value", NUMBER, "The measure; empty where it is not defined.", nullable=True),
        Column("low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval.", nullable=True),
        Column("answers", INTEGER, "Answers it rests on.", low=0),
        Column("items", INTEGER, "Items with at least two answers.", low=0),
        Column("raters", INTEGER, "People it rests on.", low=0),
    ),
    key=("question", "aspect", "statistic", "people"),
)
