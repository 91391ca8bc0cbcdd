"""The catalogue in words: the generated page ``docs/reference/tables.md``."""

from beholder.tables.catalogue import TABLES
from beholder.tables.schema import TYPE_NAMES, Column, Table
from beholder.tables.stages import STAGES

MANY = 20
"""So many tables are not listed one by one: the report reads them all."""

HEAD = """# Tables

Every arrow between two stages is a table: one Parquet file in `tables/` of the study folder, checked where it
is written and where it is read. Each file carries the stage, settings, seed, version and input hashes it came
from (`beholder tables FOLDER` shows them). Rows are counted from 0 in messages. This page is generated:
`beholder tables --markdown > docs/reference/tables.md`.

Every table has one stage that writes it, and a stage reads only what was written before it. The tables of an
import replace those that `new`, `design` and `collect` write.
"""


def markdown() -> str:
    """The whole page."""
    return "\n".join([HEAD, _stages(), *(_section(table) for table in TABLES.values())])


def _stages() -> str:
    rows = [
        f"| `{stage.name}` | {stage.about} | {_listed(stage.inputs)} | {_listed(stage.outputs)} |"
        for stage in STAGES.values()
    ]
    return "\n".join(["| stage | what it does | reads | writes |", "|---|---|---|---|", *rows, ""])


def _listed(names: tuple[str, ...]) -> str:
    return "every table" if len(names) > MANY else ", ".join(f"`{name}`" for name in names)


def _section(table: Table) -> str:
    rows = [f"| `{c.name}` | {TYPE_NAMES[c.dtype]} | {_rule(c)} | {c.about} |" for c in table.columns]
    references = [f"`{' + '.join(r.columns)}` → `{r.table}.{' + '.join(r.target)}`" for r in table.references]
    parts = [
        f"## {table.name}",
        "",
        table.about,
        "",
        f"Written by `{table.stage}`. Key: `{' + '.join(table.key)}`."
        + (f" References: {', '.join(references)}." if references else ""),
        "",
        "| column | type | rule | meaning |",
        "|---|---|---|---|",
        *rows,
        "",
    ]
    return "\n".join(parts)


def _rule(column: Column) -> str:
    rules = ["may be empty"] if column.nullable else []
    if column.allowed:
        rules.append(", ".join(f"`{value}`" for value in column.allowed))
    if column.low is not None and column.high is not None:
        rules.append(f"{column.low:g} to {column.high:g}")
    elif column.low is not None:
        rules.append(f"≥ {column.low:g}")
    elif column.high is not None:
        rules.append(f"≤ {column.high:g}")
    return "; ".join(rules)
