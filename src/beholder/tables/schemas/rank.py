"""Generators against each other: ratings, separations and comparisons."""

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
        Column("rating", NUMBER, "The rating; higher is better, but for d-prime."),
        Column("low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval.", nullable=True),
        Column("se", NUMBER, "Its standard error over people.", nullable=True, low=0),
        Column("naive_low", NUMBER, "The same, were all answers independent.", nullable=True),
        Column("naive_high", NUMBER, "The same, were all answers independent.", nullable=True),
        Column("level", NUMBER, "Level of the intervals.", low=0, high=1),
        Column("rank_low", INTEGER, "Best rank that is not ruled out.", low=1),
        Column("rank_high", INTEGER, "Worst rank that is not ruled out.", low=1),
        Column("ties", TEXT, "The rule for ties.", nullable=True),
        Column("answers", INTEGER, "Answers it rests on.", low=0),
        Column("images", INTEGER, "Images it rests on.", low=0),
        Column("raters", INTEGER, "People it rests on.", low=0),
        Column("rating_all", NUMBER, "The rating, were nobody set aside by screening.", nullable=True),
        Column("low_all", NUMBER, "Lower end of that rating's interval.", nullable=True),
        Column("high_all", NUMBER, "Upper end of that rating's interval.", nullable=True),
        Column("raters_all", INTEGER, "People that rating rests on.", nullable=True, low=0),
        Column("prior_used", FLAG, "Whether the rating needed pseudo-votes to be finite.", nullable=True),
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
        Column("low", NUMBER, "Lower end of its simultaneous confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its simultaneous confidence interval.", nullable=True),
        Column("se", NUMBER, "Its standard error over raters.", nullable=True, low=0),
        Column("degrees", NUMBER, "Degrees of freedom of that.", nullable=True, low=1),
        Column("p", NUMBER, "Two-sided p-value of this pair alone.", nullable=True, low=0, high=1),
        Column("p_adjusted", NUMBER, "The same, adjusted for all pairs.", nullable=True, low=0, high=1),
        Column("separated", FLAG, "Whether the confidence interval excludes 0."),
        Column("more_raters", INTEGER, "Raters to add to separate them with power .8.", nullable=True, low=1),
    ),
    key=("question", "aspect", "method", "slice", "generator", "other"),
)

OUTCOMES = ("much-better", "better", "same", "worse", "much-worse")
"""What a vote on two generators says of the one named first: ≫ > ≈ < ≪."""

COMPARISONS = Table(
    name="comparisons",
    about="One row a pair of generators and an outcome: the share of votes that had it.",
    stage="rank",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("slice", TEXT, "Style or category; `all` for the whole."),
        Column("generator", TEXT, "One generator: the first by name."),
        Column("other", TEXT, "The other generator."),
        Column("outcome", TEXT, "What was said of the one against the other.", allowed=OUTCOMES),
        Column("share", NUMBER, "Share of the votes on the pair.", low=0, high=1),
        Column("low", NUMBER, "Lower end of its interval over people.", nullable=True),
        Column("high", NUMBER, "Upper end of its interval over people.", nullable=True),
        Column("answers", INTEGER, "Votes on the pair.", low=1),
        Column("raters", INTEGER, "People who voted on the pair.", low=1),
    ),
    key=("question", "aspect", "slice", "generator", "other", "outcome"),
)
