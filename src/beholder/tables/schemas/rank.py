"""Generators against each other: ratings and separations."""

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Table

RATINGS = Table(
    name="ratings",
    about="One row a generator's rating by one question, with its interval over people.",
    stage="rank",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "What the rating is: error-rate, fake-error-rate, bradley-terry, mean-opinion, …"),
        Column("slice", TEXT, "Style or category; `all` for the whole."),
        Column("generator", TEXT, "The generator."),
        Column("rating", NUMBER, "The rating; higher is better."),
        Column("low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval.", nullable=True),
        Column("naive_low", NUMBER, "The same, were all answers independent.", nullable=True),
        Column("naive_high", NUMBER, "The same, were all answers independent.", nullable=True),
        Column("level", NUMBER, "Level of the intervals.", low=0, high=1),
        Column("rank_low", INTEGER, "Best rank that is not ruled out.", low=1),
        Column("rank_high", INTEGER, "Worst rank that is not ruled out.", low=1),
        Column("ties", TEXT, "The rule for ties.", nullable=True),
        Column("answers", INTEGER, "Answers it rests on.", low=0),
        Column("images", INTEGER, "Images it rests on.", low=0),
        Column("raters", INTEGER, "People it rests on.", low=0),
        Column("draws", INTEGER, "Bootstrap draws over people.", low=0),
    ),
    key=("question", "aspect", "method", "slice", "generator"),
)

SEPARATIONS = Table(
    name="separations",
    about="One row a pair of generators: are they told apart?",
    stage="rank",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "What the rating is."),
        Column("slice", TEXT, "Style or category; `all` for the whole."),
        Column("generator", TEXT, "One generator: the higher rated."),
        Column("other", TEXT, "The other generator."),
        Column("difference", NUMBER, "Rating of the one minus the other."),
        Column("low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval.", nullable=True),
        Column("p", NUMBER, "Two-sided p-value.", nullable=True, low=0, high=1),
        Column("p_adjusted", NUMBER, "The same, Holm-adjusted over the pairs.", nullable=True, low=0, high=1),
        Column("separated", FLAG, "Whether the adjusted p-value is below 1 − level."),
        Column("more_raters", INTEGER, "People to add to tell them apart with power .8.", nullable=True, low=0),
    ),
    key=("question", "aspect", "method", "slice", "generator", "other"),
)
