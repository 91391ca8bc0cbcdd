"""What machines say, and how far people agree with it: scores, features, distances, correlations."""

from beholder.tables.schema import INTEGER, NUMBER, TEXT, Column, Reference, Table

SCORES = Table(
    name="scores",
    about="One row a score that an automatic judge (or the made-up truth) gives to one image.",
    stage="measure",
    columns=(
        Column("scorer", TEXT, "The judge."),
        Column("aspect", TEXT, "What it judges."),
        Column("image", TEXT, "The image."),
        Column("score", NUMBER, "The score."),
    ),
    key=("scorer", "aspect", "image"),
    references=(Reference(("image",), "images", ("image",)),),
)

FEATURES = Table(
    name="features",
    about="One row an image's feature vector: where in the memory-mapped store it lies.",
    stage="measure",
    columns=(
        Column("encoder", TEXT, "The encoder, with its weights."),
        Column("preprocessing", TEXT, "Version of resize and normalisation."),
        Column("image", TEXT, "The image."),
        Column("sha256", TEXT, "Hash of the image file that was encoded."),
        Column("file", TEXT, "The array file, relative to the study folder."),
        Column("row", INTEGER, "Row in that file.", low=0),
    ),
    key=("encoder", "preprocessing", "image"),
    references=(Reference(("image",), "images", ("image",)),),
)

DISTANCES = Table(
    name="distances",
    about="One row a distance between the images of a generator and a reference set.",
    stage="measure",
    columns=(
        Column("distance", TEXT, "Which distance."),
        Column("encoder", TEXT, "Features it is taken over."),
        Column("generator", TEXT, "The generator."),
        Column("reference", TEXT, "The set compared with."),
        Column("slice", TEXT, "Style or category; `all` for the whole."),
        Column("value", NUMBER, "The distance."),
        Column("low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval.", nullable=True),
        Column("images", INTEGER, "Images of the generator.", low=1),
        Column("reference_images", INTEGER, "Images of the reference.", low=1),
    ),
    key=("distance", "encoder", "generator", "reference", "slice"),
)

CORRELATIONS = Table(
    name="correlations",
    about="One row an agreement between an automatic metric and people.",
    stage="measure",
    columns=(
        Column("metric", TEXT, "The scorer or distance."),
        Column("question", TEXT, "The question people answered."),
        Column("aspect", TEXT, "What they judged."),
        Column("level", TEXT, "Over images or over generators.", allowed=("image", "generator")),
        Column("statistic", TEXT, "pearson, spearman, kendall, pair-accuracy, …"),
        Column("slice", TEXT, "Style or category; `all` for the whole."),
        Column("value", NUMBER, "The agreement."),
        Column("low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval.", nullable=True),
        Column("floor", NUMBER, "What knowing the generator alone would give.", nullable=True),
        Column("ceiling", NUMBER, "What one person against the others gives.", nullable=True),
        Column("items", INTEGER, "Images or generators it rests on.", low=2),
        Column("raters", INTEGER, "People it rests on.", low=1),
        Column("ties", TEXT, "The rule for ties.", nullable=True),
    ),
    key=("metric", "question", "aspect", "level", "statistic", "slice"),
)
