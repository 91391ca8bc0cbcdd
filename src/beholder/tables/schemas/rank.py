"""Generators compared: ratings, separations and comparisons."""

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Table

RATINGS = Table(
    name="ratings",
    about="One row per generator and rating method, with the confidence interval over raters.",
    stage="rank",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "What the rating is: error-rate, fake-error-rate, bradley-terry, mean-opinion, …"),
        Column("slice", TEXT, "Style or category; `all` for all images."),
        Column("generator", TEXT, "The generator."),
        Column("rating", NUMBER, "The rating; higher is better, but for d-prime."),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval.", nullable=True),
        Column("se", NUMBER, "Its standard error over raters.", nullable=True, low=0),
        Column("naive_low", NUMBER, "Lower end if all answers were independent.", nullable=True),
        Column("naive_high", NUMBER, "Upper end if all answers were independent.", nullable=True),
        Column("level", NUMBER, "Level of the confidence intervals.", low=0, high=1),
        Column("rank_low", INTEGER, "Best rank that is not ruled out.", low=1),
        Column("rank_high", INTEGER, "Worst rank that is not ruled out.", low=1),
        Column("ties", TEXT, "The rule for ties.", nullable=True),
        Column("answers", INTEGER, "Answers it rests on.", low=0),
        Column("images", INTEGER, "Images it rests on.", low=0),
        Column("raters", INTEGER, "Raters it rests on.", low=0),
        Column("rating_all", NUMBER, "The rating with no rater excluded by screening.", nullable=True),
        Column("low_all", NUMBER, "Lower end of that rating's confidence interval.", nullable=True),
        Column("high_all", NUMBER, "Upper end of that rating's confidence interval.", nullable=True),
        Column("raters_all", INTEGER, "Raters that rating rests on.", nullable=True, low=0),
        Column("prior_used", FLAG, "Whether the rating needed pseudo-votes to be finite.", nullable=True),
    ),
    key=("question", "aspect", "method", "slice", "generator"),
)

SEPARATIONS = Table(
    name="separations",
    about="One row per pair of generators: are they significantly different?",
    stage="rank",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "What the rating is."),
        Column("slice", TEXT, "Style or category; `all` for all images."),
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
"""Outcomes of a vote on two generators, for the one named first: ≫ > ≈ < ≪."""

COMPARISONS = Table(
    name="comparisons",
    about="One row per pair of generators and outcome: the proportion of votes with it.",
    stage="rank",
    columns=(
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("slice", TEXT, "Style or category; `all` for all images."),
        Column("generator", TEXT, "One generator: the first by name."),
        Column("other", TEXT, "The other generator."),
        Column("outcome", TEXT, "Outcome for the one against the other.", allowed=OUTCOMES),
        Column("share", NUMBER, "Proportion of the votes on the pair.", low=0, high=1),
        Column("low", NUMBER, "Lower end of its confidence interval over raters.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval over raters.", nullable=True),
        Column("answers", INTEGER, "Votes on the pair.", low=1),
        Column("raters", INTEGER, "Raters who voted on the pair.", low=1),
    ),
    key=("question", "aspect", "slice", "generator", "other", "outcome"),
)
