"""Automatic metrics, and how well they agree with raters: scores, features, distances, correlations."""

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Reference, Table
from beholder.tables.schemas.learn import DIRECTIONS

SCORES = Table(
    name="scores",
    about="One row per image and score that a scorer (or the ground truth of a synthetic world) gives to it.",
    stage="measure",
    columns=(
        Column("scorer", TEXT, "The scorer."),
        Column("aspect", TEXT, "What it scores."),
        Column("image", TEXT, "The image."),
        Column("score", NUMBER, "The score."),
        Column("better", TEXT, "Which scores are better, where known.", nullable=True, allowed=DIRECTIONS),
    ),
    key=("scorer", "aspect", "image"),
    references=(Reference(("image",), "images", ("image",)),),
)

FEATURES = Table(
    name="features",
    about="One row per image and encoder: where in the memory-mapped store the feature vector is.",
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
    about="One row per distance between the images of a generator and a reference set.",
    stage="measure",
    columns=(
        Column("distance", TEXT, "Which distance."),
        Column("encoder", TEXT, "Encoder of the features it is computed from."),
        Column("generator", TEXT, "The generator."),
        Column("reference", TEXT, "The reference set; `none` where there is none."),
        Column("slice", TEXT, "Style or category; `all` for all images."),
        Column("value", NUMBER, "The distance."),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval.", nullable=True),
        Column("images", INTEGER, "Images of the generator.", low=1),
        Column("reference_images", INTEGER, "Images of the reference.", nullable=True, low=1),
        Column("better", TEXT, "Which distances are better.", nullable=True, allowed=DIRECTIONS),
    ),
    key=("distance", "encoder", "generator", "reference", "slice"),
)

LEVELS = ("image", "pair", "generator")
"""What a metric and raters are compared on: single images, pairs that raters were shown, or generators."""

CORRELATIONS = Table(
    name="correlations",
    about="One row per automatic metric and measure of its agreement with raters.",
    stage="measure",
    columns=(
        Column("metric", TEXT, "The scorer or distance; `NAME/out-of-fold`: a trained model, of images held out."),
        Column("encoder", TEXT, "Encoder of the features it is computed from, if any.", nullable=True),
        Column("reference", TEXT, "The reference set of a distance, or `published`.", nullable=True),
        Column("better", TEXT, "Which of its values are better, where known.", nullable=True, allowed=DIRECTIONS),
        Column("question", TEXT, "The question that raters answered."),
        Column("aspect", TEXT, "What they judged."),
        Column("method", TEXT, "What the raters' rating or label is: error-rate, mean, …"),
        Column("level", TEXT, "Over what both are compared.", allowed=LEVELS),
        Column("statistic", TEXT, "Which agreement: pearson, spearman, kendall, pair-accuracy, …"),
        Column("slice", TEXT, "Style or category; `all` for all images."),
        Column("value", NUMBER, "The agreement; above 0 (or ½) where higher is preferred.", nullable=True),
        Column("low", NUMBER, "Lower end of its CI over generators, prompts or images.", nullable=True),
        Column("high", NUMBER, "Upper end of that CI.", nullable=True),
        Column("people_low", NUMBER, "Lower end of its CI over raters, with items fixed.", nullable=True),
        Column("people_high", NUMBER, "Upper end of that CI.", nullable=True),
        Column("p", NUMBER, "Two-sided p-value of no agreement, items independent.", nullable=True, low=0, high=1),
        Column("floor", NUMBER, "Generator-mean baseline: knowing only the generator.", nullable=True),
        Column("ceiling", NUMBER, "Human ceiling: as many other raters (of pairs: one).", nullable=True),
        Column("items", INTEGER, "Images, pairs or generators it rests on.", low=2),
        Column("raters", INTEGER, "Raters per item, at most.", nullable=True, low=0),
        Column("ties", TEXT, "The rule for ties.", nullable=True),
        Column("interval", TEXT, "How the confidence interval was computed.", nullable=True),
    ),
    key=(
        *("metric", "encoder", "reference"),
        *("question", "aspect", "method", "level", "statistic", "slice"),
    ),
)

METRIC_SEPARATIONS = Table(
    name="metric_separations",
    about="One row per pair of metrics compared with the same raters: does one agree better?",
    stage="measure",
    columns=(
        Column("question", TEXT, "The question that raters answered."),
        Column("aspect", TEXT, "What they judged."),
        Column("method", TEXT, "What the raters' rating or label is."),
        Column("level", TEXT, "Over what they are compared.", allowed=LEVELS),
        Column("statistic", TEXT, "Which agreement."),
        Column("slice", TEXT, "Style or category; `all` for all images."),
        Column("metric", TEXT, "One metric: the one that agrees better."),
        Column("encoder", TEXT, "Encoder of the features it is computed from.", nullable=True),
        Column("reference", TEXT, "Its reference set.", nullable=True),
        Column("other", TEXT, "The other metric."),
        Column("other_encoder", TEXT, "Encoder of that one's features.", nullable=True),
        Column("other_reference", TEXT, "That one's reference set.", nullable=True),
        Column("difference", NUMBER, "Agreement of the one minus that of the other, higher values being better."),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval.", nullable=True),
        Column("p", NUMBER, "Two-sided p-value.", nullable=True, low=0, high=1),
        Column("p_adjusted", NUMBER, "The same, Holm-adjusted over the pairs.", nullable=True, low=0, high=1),
        Column("separated", FLAG, "Whether the adjusted p-value is below 1 − level."),
        Column("items", INTEGER, "Images or generators it rests on.", low=2),
    ),
    key=(
        *("question", "aspect", "method", "level", "statistic", "slice"),
        *("metric", "encoder", "reference", "other", "other_encoder", "other_reference"),
    ),
)

POWERED_RATINGS = Table(
    name="powered_ratings",
    about=(
        "One row per generator and metric: its prediction-powered rating, from the raters' judgements and the "
        "scores of images that nobody judged, beside the rating by the same raters alone."
    ),
    stage="measure",
    columns=(
        Column("question", TEXT, "The question that raters answered."),
        Column("aspect", TEXT, "What they judged."),
        Column("method", TEXT, "What the rating is: mean-opinion, win-rate, fake-error-rate, …"),
        Column("metric", TEXT, "The scorer, as in `correlations`."),
        Column("generator", TEXT, "The generator."),
        Column("rating", NUMBER, "The prediction-powered rating (PPI++)."),
        Column("low", NUMBER, "Lower end of its CI over raters and images.", nullable=True),
        Column("high", NUMBER, "Upper end of that CI.", nullable=True),
        Column("se", NUMBER, "Its standard error.", nullable=True, low=0),
        Column("people_rating", NUMBER, "The mean of the raters' judgements alone."),
        Column("people_low", NUMBER, "Lower end of its CI over raters and images.", nullable=True),
        Column("people_high", NUMBER, "Upper end of that CI.", nullable=True),
        Column(
            "width_ratio", NUMBER, "Width of the first CI divided by that of the second.", nullable=True, low=0
        ),
        Column("tuning", NUMBER, "λ: the weight of the scores; 0 leaves them out.", low=0, high=1),
        Column("level", NUMBER, "Level of the confidence intervals.", low=0, high=1),
        Column("answers", INTEGER, "Judgements it rests on.", low=2),
        Column("raters", INTEGER, "Raters it rests on.", low=2),
        Column("judged", INTEGER, "Judged images with a score; of comparisons, prompts.", low=2),
        Column("unjudged", INTEGER, "Scored images that nobody judged; of comparisons, prompts.", low=2),
    ),
    key=("question", "aspect", "method", "metric", "generator"),
)
