"""Audits: what was looked for, what was found, how sure that is; and what entries are worth to practitioners."""

from beholder.tables.schema import INTEGER, NUMBER, TEXT, Column, Table

AUDIT_NAMES = (
    *("slice-gap", "composition", "shift", "counterfactual", "perception", "filter"),
    *("scorer-robustness", "label-errors", "contamination", "fragility", "drift", "saturation"),
    *("cost", "profiles"),
)
"""The audits, in the order of the page."""

PROBLEM, CAUTION, CLEAR, UNDECIDED, ABSENT = "problem", "caution", "clear", "undecided", "absent"
SEVERITIES = (PROBLEM, CAUTION, CLEAR, UNDECIDED, ABSENT)
"""A gap or fault that is significant; something to know; evidence that there is none; too little to say; nothing
to look at, with what is missing."""

AUDITS = Table(
    name="audits",
    about=(
        "One row per finding of an audit: the figure with its interval, what it is compared with, and the finding "
        "in words. Holds the audits of the last call."
    ),
    stage="audit",
    columns=(
        Column("audit", TEXT, "The audit.", allowed=AUDIT_NAMES),
        Column("number", INTEGER, "Counts the findings of an audit, from 0.", low=0),
        Column("subject", TEXT, "What is audited: an entry, a scorer, a filter; `all` for all entries."),
        Column("measure", TEXT, "By which measure.", nullable=True),
        Column("slice", TEXT, "Of which part: a tag, a style, a change; `all` for everything."),
        Column("figure", NUMBER, "The figure, such as the gap; empty where there are only words.", nullable=True),
        Column("low", NUMBER, "Lower end of its confidence interval.", nullable=True),
        Column("high", NUMBER, "Upper end of its confidence interval.", nullable=True),
        Column("level", NUMBER, "Level of that, of a family together.", nullable=True, low=0, high=1),
        Column("baseline", NUMBER, "What the figure is compared with.", nullable=True),
        Column("shrunk", NUMBER, "The figure shrunk towards no gap.", nullable=True),
        Column("p", NUMBER, "p-value of this row alone.", nullable=True, low=0, high=1),
        Column("p_adjusted", NUMBER, "The same, adjusted over the family.", nullable=True, low=0, high=1),
        Column("prompts", INTEGER, "Prompts, pairs of prompts or images it rests on.", nullable=True, low=0),
        Column("raters", INTEGER, "Raters it rests on; 0 where a program scores.", nullable=True, low=0),
        Column("unit", TEXT, "Unit of figure and baseline.", nullable=True),
        Column("severity", TEXT, "How serious it is.", allowed=SEVERITIES),
        Column("finding", TEXT, "What follows, in words."),
    ),
    key=("audit", "number"),
    varies=True,
)

AUDIT_PROFILES = Table(
    name="audit_profiles",
    about="One row per practitioner and entry: its utility under their weights, its chance to win.",
    stage="audit",
    columns=(
        Column("profile", TEXT, "The practitioner."),
        Column("entry", TEXT, "The generator."),
        Column("utility", NUMBER, "Weighted mean of its standardised measures."),
        Column("se", NUMBER, "Its standard error.", low=0),
        Column("chance_best", NUMBER, "Chance to have the highest utility.", low=0, high=1),
        Column("weights", TEXT, "The weights of the measures, as JSON; they sum to 1."),
        Column("left_out", TEXT, "What the profile values and nobody measured, as JSON."),
    ),
    key=("profile", "entry"),
    varies=True,
)
