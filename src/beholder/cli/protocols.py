"""``beholder protocols``: what can be asked, and by which published rules."""

from collections.abc import Iterator

import click
from pydantic import BaseModel

from beholder.cli.output import show_json, show_table
from beholder.errors import UserError, unknown_name
from beholder.study.kinds.catalogue import KINDS
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.protocols.protocol import Protocol


@click.command()
@click.argument("name", required=False)
@click.option("--kinds", is_flag=True, help="List the kinds of questions instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def protocols(name: str | None, *, kinds: bool, as_json: bool) -> None:
    """List the protocols, or show one with all its settings.

    A protocol is a preset of questions with the defaults of a published study. With NAME: its settings, where it
    departs from the publication, and what follows from the settings.
    """
    if kinds and name:
        raise click.UsageError("--kinds lists all kinds: it takes no NAME")
    if kinds:
        _list_kinds(as_json=as_json)
    elif name is None:
        _list_protocols(as_json=as_json)
    elif name not in PROTOCOLS:
        raise UserError(unknown_name("protocol", name, PROTOCOLS))
    elif as_json:
        show_json(_plain(PROTOCOLS[name]))
    else:
        _show(PROTOCOLS[name])


def _list_kinds(*, as_json: bool) -> None:
    listed = [{"kind": k.name, "writes": list(k.columns), "summary": k.summary} for k in KINDS.values()]
    if as_json:
        show_json(listed)
    else:
        show_table(
            ("kind", "writes", "summary"), [(k.name, ", ".join(k.columns), k.summary) for k in KINDS.values()]
        )


def _list_protocols(*, as_json: bool) -> None:
    if as_json:
        show_json([_plain(protocol) for protocol in PROTOCOLS.values()])
    else:
        rows = [(p.name, _kinds_of(p), p.summary, p.source) for p in PROTOCOLS.values()]
        show_table(("protocol", "kind", "summary", "source"), rows)


def _show(protocol: Protocol) -> None:
    needs = [*(["real images"] if protocol.needs_real else []), *(["prompts"] if protocol.needs_prompts else [])]
    click.echo(f"{protocol.name}: {protocol.summary}\nSource: {protocol.source}")
    click.echo(f"Needs: generated images{''.join(f', {need}' for need in needs)}")
    if protocol.raters_per_generator:
        click.echo(f"Raters: {protocol.raters_per_generator} for each generator")
    for question in protocol.questions():
        click.echo(f"\nQuestion '{question.name}' of kind {question.kind}\n")
        show_table(("setting", "value", "meaning"), list(_settings(question)))
        _bullets("What follows", protocol.notes(question))
    _bullets("Departures from the source", protocol.departures)


def _settings(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    for key, field in type(model).model_fields.items():
        value = getattr(model, key)
        if isinstance(value, BaseModel):
            yield from _settings(value, f"{prefix}{key}.")
        elif key not in ("name", "kind", "protocol"):
            yield f"{prefix}{key}", _format(value), field.description or ""


def _format(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(getattr(part, "name", str(part)) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _bullets(head: str, lines: tuple[str, ...]) -> None:
    if lines:
        click.echo("\n".join([f"\n{head}:", *(f"  - {line}" for line in lines)]))


def _plain(protocol: Protocol) -> dict[str, object]:
    questions = protocol.questions()
    return {
        "name": protocol.name,
        "summary": protocol.summary,
        "source": protocol.source,
        "departures": list(protocol.departures),
        "raters_per_generator": protocol.raters_per_generator,
        "needs_real": protocol.needs_real,
        "needs_prompts": protocol.needs_prompts,
        "questions": [question.model_dump(mode="json") for question in questions],
        "notes": [note for question in questions for note in protocol.notes(question)],
    }


def _kinds_of(protocol: Protocol) -> str:
    return ", ".join(question.kind for question in protocol.questions())
