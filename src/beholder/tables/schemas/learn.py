"""How models are trained on labels, what they predict, and which labels are likely errors."""

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Reference, Table

DIRECTIONS = ("lower", "higher", "zero")
"""Which values of a metric are better: low ones, high ones, or those near 0."""

OUT_OF_FOLD = "/out-of-fold"
"""Ending of a trained model's name where its predictions are for held-out images."""

TRAINING = Table(
    name="training",
    about="One row per value of a training curve.",
    stage="learn",
    columns=(
        Column("model", TEXT, "The model that was trained."),
        Column("fold", INTEGER, "The fold that was held out, from 0.", low=0),
        Column("step", INTEGER, "Steps of the optimiser so far.", low=0),
        Column("split", TEXT, "On which examples.", allowed=("train", "validation")),
        Column("measure", TEXT, "What was measured: loss, learning-rate, pair-accuracy, spearman, …"),
        Column("value", NUMBER, "The value; empty where it is not defined.", nullable=True),
    ),
    key=("model", "fold", "step", "split", "measure"),
)

PREDICTIONS = Table(
    name="predictions",
    about="One row per image, aspect and trained model: the score that the model predicts.",
    stage="learn",
    columns=(
        Column("model", TEXT, "The model, by its folder below `models/`."),
        Column("fold", INTEGER, "The fold whose model predicts, from 0.", low=0),
        Column("aspect", TEXT, "What is predicted."),
        Column("image", TEXT, "The image."),
        Column("score", NUMBER, "The score, on the scale of the labels."),
        Column("better", TEXT, "Which scores are better.", allowed=DIRECTIONS),
        Column("held_out", FLAG, "Whether the model was trained without this image."),
    ),
    key=("model", "fold", "aspect", "image"),
    references=(Reference(("image",), "images", ("image",)),),
)

LABEL_ERRORS = Table(
    name="label_errors",
    about="One row per hard label and trained model that predicts it, held out: is the label likely an error?",
    stage="learn",
    columns=(
        Column("model", TEXT, "The model."),
        Column("question", TEXT, "Name of the question."),
        Column("aspect", TEXT, "What was judged."),
        Column("method", TEXT, "How the label was made: preference."),
        Column("image", TEXT, "The image."),
        Column("other", TEXT, "The image it was compared with.", nullable=True),
        Column("doubt", NUMBER, "1 − the predicted probability of the hard label.", low=0, high=1),
        Column("suggested", TEXT, "Another hard label that the model is confident of.", nullable=True),
    ),
    key=("model", "question", "aspect", "method", "image", "other"),
    references=(Reference(("image",), "images", ("image",)), Reference(("other",), "images", ("image",))),
)

ROUNDS = Table(
    name="rounds",
    about="One row per model of adversarial rounds, the first before any: both of its errors, on held-out data.",
    stage="learn",
    columns=(
        Column("model", TEXT, "The model, by its folder below `models/`."),
        Column("parent", TEXT, "The model that the last of its rounds attacked.", nullable=True),
        Column("rounds", TEXT, "The rounds that it is trained on, such as 1-3.", nullable=True),
        Column("pairs", INTEGER, "Verified claims of rounds that it is trained on.", low=0),
        Column("claims", INTEGER, "Claims of these rounds.", low=0),
        Column("verified", INTEGER, "Of which others verified.", low=0),
        Column("refuted", INTEGER, "Of which others refuted; the rest are open.", low=0),
        Column("credit", NUMBER, "Credit of all their claimants.", low=0),
        Column("attackers", INTEGER, "Attackers who are held out from all models.", low=1),
        Column("attacks", INTEGER, "Their verified claims, of all rounds.", low=1),
        Column("attack_error", NUMBER, "Proportion of these on which the model prefers the worse.", low=0, high=1),
        Column("attack_low", NUMBER, "Lower end of its interval, over attackers.", low=0, high=1),
        Column("attack_high", NUMBER, "Upper end.", low=0, high=1),
        Column("prompts", INTEGER, "Held-out prompts of the study's own labels.", low=1),
        Column("static_error", NUMBER, "Proportion of pairs where it disagrees with raters.", low=0, high=1),
        Column("static_low", NUMBER, "Lower end of its interval, over prompts.", low=0, high=1),
        Column("static_high", NUMBER, "Upper end.", low=0, high=1),
        Column("reduction", NUMBER, "1 − its error on attacks / that of the first model.", nullable=True),
        Column("reduction_low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("reduction_high", NUMBER, "Upper end.", nullable=True),
        Column("static_change", NUMBER, "Its static error less that of the first model.", nullable=True),
        Column("static_change_low", NUMBER, "Lower end of its interval.", nullable=True),
        Column("static_change_high", NUMBER, "Upper end.", nullable=True),
    ),
    key=("model",),
)
