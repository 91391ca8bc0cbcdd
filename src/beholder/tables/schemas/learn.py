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
