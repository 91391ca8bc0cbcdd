"""Which prompts there were, what was done with each of them and why, and which were chosen."""

from beholder.tables.schema import FLAG, INTEGER, NUMBER, TEXT, Column, Reference, Table

STATUSES = ("chosen", "held-out", "not-drawn", "dropped")
"""What became of a candidate."""

ORIGINS = ("set", "swap", "template", "variation", "command")
"""Where a candidate comes from: a prompt set, or what wrote it."""

RELATIONS = ("duplicate", "near-duplicate", "minimal-pair", "paraphrase", "counterfactual")
"""What two candidates are to each other."""

PROMPT_SETS = Table(
    name="prompt_sets",
    about="One row per prompt set that was read.",
    stage="curate",
    columns=(
        Column("set", TEXT, "Name of the set; of a part, with a colon and the name of the part."),
        Column("version", TEXT, "Its version, recognised by the hashes of its files, or the hash of a file."),
        Column("licence", TEXT, "Its licence."),
        Column("source", TEXT, "Where it is published, or the name of the file."),
        Column("prompts", INTEGER, "Prompts in it.", low=1),
        Column("distinct", INTEGER, "Prompts that differ in more than case and punctuation.", low=1),
    ),
    key=("set",),
)

PROMPT_OVERLAPS = Table(
    name="prompt_overlaps",
    about="One row per two sets that share prompts: who averages over both counts these twice.",
    stage="curate",
    columns=(
        Column("first", TEXT, "A set."),
        Column("second", TEXT, "Another set."),
        Column("shared", INTEGER, "Distinct prompts in both, without case and punctuation.", low=1),
    ),
    key=("first", "second"),
    references=(Reference(("first",), "prompt_sets", ("set",)), Reference(("second",), "prompt_sets", ("set",))),
)

PROMPT_CANDIDATES = Table(
    name="prompt_candidates",
    about="One row per prompt that was considered: its original text, its final text, and what became of it.",
    stage="curate",
    columns=(
        Column("candidate", TEXT, "Id of the candidate: its set and its key within it."),
        Column("prompt", TEXT, "Id of its final text, as in `prompts` and `curated_prompts`."),
        Column("text", TEXT, "The final text."),
        Column("original", TEXT, "The text before cleaning."),
        Column("set", TEXT, "The set it comes from, or that of its parent.", nullable=True),
        Column("key", TEXT, "Its id within the set, or what it was written by."),
        Column("category", TEXT, "Its category in the set.", nullable=True),
        Column("group", TEXT, "Candidates that differ only in what is tested share a group.", nullable=True),
        Column("origin", TEXT, "Where it comes from.", allowed=ORIGINS),
        Column("parent", TEXT, "The candidate that it was written from.", nullable=True),
        Column("language", TEXT, "ISO 639 code; `und` where it cannot be determined."),
        Column("status", TEXT, "What became of it.", allowed=STATUSES),
        Column("reason", TEXT, "Why."),
    ),
    key=("candidate",),
    references=(
        Reference(("set",), "prompt_sets", ("set",)),
        Reference(("parent",), "prompt_candidates", ("candidate",)),
    ),
)

PROMPT_EDITS = Table(
    name="prompt_edits",
    about="One row per cut that cleaning made.",
    stage="curate",
    columns=(
        Column("candidate", TEXT, "The candidate."),
        Column("number", INTEGER, "Cuts of a candidate are numbered from 0.", low=0),
        Column("rule", TEXT, "The rule, or `command`."),
        Column("removed", TEXT, "What was removed."),
        Column("evidence", TEXT, "The words by which the rule applies."),
        Column("start", INTEGER, "Where it stood in the original: the first character, from 0.", low=0),
        Column("end", INTEGER, "And the character after the last.", low=0),
    ),
    key=("candidate", "number"),
    references=(Reference(("candidate",), "prompt_candidates", ("candidate",)),),
)

PROMPT_FINDINGS = Table(
    name="prompt_findings",
    about="One row per finding of a check in the final text of a candidate.",
    stage="curate",
    columns=(
        Column("candidate", TEXT, "The candidate."),
        Column("number", INTEGER, "Findings of a candidate are numbered from 0.", low=0),
        Column("check", TEXT, "contradiction, named-person, quoted-text, language, or word-list: with its name."),
        Column("evidence", TEXT, "The words that it is about."),
        Column("start", INTEGER, "Where they stand: the first character, from 0.", low=0),
        Column("end", INTEGER, "And the character after the last.", low=0),
    ),
    key=("candidate", "number"),
    references=(Reference(("candidate",), "prompt_candidates", ("candidate",)),),
)

PROMPT_PAIRS = Table(
    name="prompt_pairs",
    about="One row per two candidates that say the same, nearly the same, or differ in what is tested.",
    stage="curate",
    columns=(
        Column("first", TEXT, "A candidate."),
        Column("second", TEXT, "A later one."),
        Column("relation", TEXT, "What they are to each other.", allowed=RELATIONS),
        Column("evidence", TEXT, "What differs."),
        Column("similarity", NUMBER, "Words in common (Dice), or the cosine of a paraphrase.", low=-1, high=1),
    ),
    key=("first", "second", "relation"),
    references=(
        Reference(("first",), "prompt_candidates", ("candidate",)),
        Reference(("second",), "prompt_candidates", ("candidate",)),
    ),
)

CURATED_PROMPTS = Table(
    name="curated_prompts",
    about="One row per prompt that was chosen: what images are to be generated from.",
    stage="curate",
    columns=(
        Column("prompt", TEXT, "Id of the prompt, the same as in `prompts` once there are images."),
        Column("text", TEXT, "The prompt."),
        Column("category", TEXT, "Its category: the slice by which results are broken down.", nullable=True),
        Column("candidate", TEXT, "The candidate that it is."),
        Column("held_out", FLAG, "Whether it is in the part that is held out."),
    ),
    key=("prompt",),
    references=(Reference(("candidate",), "prompt_candidates", ("candidate",)),),
)

PROMPT_TAGS = Table(
    name="prompt_tags",
    about="One row per tag of a chosen prompt, with the words that show it.",
    stage="curate",
    columns=(
        Column("prompt", TEXT, "The prompt."),
        Column("tag", TEXT, "count, colour, size, shape, material, texture, state, spatial, action, …"),
        Column("label", TEXT, "Its value: the number, the colour, the preposition, …"),
        Column("evidence", TEXT, "The words of the prompt."),
        Column("start", INTEGER, "Where they stand: the first character, from 0.", low=0),
        Column("end", INTEGER, "And the character after the last.", low=0),
    ),
    key=("prompt", "tag", "label", "start"),
    references=(Reference(("prompt",), "curated_prompts", ("prompt",)),),
)

PROMPT_COVERAGE = Table(
    name="prompt_coverage",
    about="One row per category and tag: how many of the candidates that were not dropped have it.",
    stage="curate",
    columns=(
        Column("family", TEXT, "`category`, or the name of a tag."),
        Column("label", TEXT, "The category, or the value of the tag."),
        Column("available", INTEGER, "Candidates with it that were not dropped.", low=0),
        Column("chosen", INTEGER, "Those that were chosen, the held-out part included.", low=0),
        Column("held_out", INTEGER, "Those of them that are held out.", low=0),
    ),
    key=("family", "label"),
)
