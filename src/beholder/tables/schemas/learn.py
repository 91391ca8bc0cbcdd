"""How models learn from people."""

from beholder.tables.schema import INTEGER, NUMBER, TEXT, Column, Table

TRAINING = Table(
    name="training",
    about="One row a value of a training curve.",
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
