"""What data from elsewhere holds in place of answers: people's totals, and labels that were published."""

from dataclasses import replace

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Reference, Table
from beholder.tables.schemas.consolidate import REGIONS

TOTALS = Table(
    name="totals",
    about=(
        "One row a person's answers to the real or to the generated images of one generator, counted: imported "
        "data that gives each person's totals and not their answers."
    ),
    stage="import",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("rater", TEXT, "Pseudonym of the person."),
        Column("generator", TEXT, "The generator that the person judged."),
        Column("real", FLAG, "Whether these are the real images that were shown along with it."),
        Column("answers", INTEGER, "Answers counted.", low=1),
        Column("wrong", INTEGER, "Wrong ones among them.", low=0),
        Column("seconds", NUMBER, "Time for all of them together.", nullable=True, low=0),
    ),
    key=("question", "rater", "generator", "real"),
)

PUBLISHED = Table(
    name="published",
    about="One row a label that came with imported data and not from answers; `consolidate` takes it over.",
    stage="import",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "How the label was made: share, published-mean, published-majority."),
        Column("image", TEXT, "The image."),
        Column("among", TEXT, "The generator along with which it was shown, if labels go by it.", nullable=True),
        Column("word", INTEGER, "The word of the prompt, from 0.", nullable=True, low=0),
        Column("value", NUMBER, "The label: a share, or a mean on the aspect's scale."),
        Column("spread", NUMBER, "Standard deviation over people.", nullable=True, low=0),
        Column("raters", INTEGER, "People it rests on, each with one answer.", low=1),
    ),
    key=("question", "aspect", "method", "image", "among", "word"),
    references=(Reference(("image",), "images", ("image",)),),
)

PUBLISHED_REGIONS = replace(
    REGIONS,
    name="published_regions",
    about="One row a heatmap that came with imported data; `consolidate` takes it over into `regions`.",
    stage="import",
)
