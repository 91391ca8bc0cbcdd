"""What imported data has instead of answers: raters' totals, and published labels."""

from dataclasses import replace

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Reference, Table
from beholder.tables.schemas.consolidate import REGIONS

TOTALS = Table(
    name="totals",
    about=(
        "One row per rater, generator, and real or generated images: the rater's answers, counted. For imported "
        "data that gives the totals of each rater and not the answers."
    ),
    stage="import",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("rater", TEXT, "Pseudonym of the rater."),
        Column("generator", TEXT, "The generator that the rater judged."),
        Column("real", FLAG, "Whether these are the real images that were shown along with it."),
        Column("answers", INTEGER, "Answers counted.", low=1),
        Column("wrong", INTEGER, "Wrong ones among them.", low=0),
        Column("seconds", NUMBER, "Time for all of them together.", nullable=True, low=0),
    ),
    key=("question", "rater", "generator", "real"),
)

PUBLISHED = Table(
    name="published",
    about="One row per label that came with imported data and not from answers; `consolidate` copies it.",
    stage="import",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "How the label was made: share, published-mean, published-majority."),
        Column("image", TEXT, "The image."),
        Column(
            "among", TEXT, "The generator with which it was shown, if there is a label for each.", nullable=True
        ),
        Column("word", INTEGER, "The word of the prompt, from 0.", nullable=True, low=0),
        Column("value", NUMBER, "The label: a proportion, or a mean on the aspect's scale."),
        Column("spread", NUMBER, "Standard deviation over raters.", nullable=True, low=0),
        Column("raters", INTEGER, "Raters it rests on, each with one answer.", low=1),
    ),
    key=("question", "aspect", "method", "image", "among", "word"),
    references=(Reference(("image",), "images", ("image",)),),
)

PUBLISHED_REGIONS = replace(
    REGIONS,
    name="published_regions",
    about="One row per heatmap that came with imported data; `consolidate` copies it into `regions`.",
    stage="import",
)
