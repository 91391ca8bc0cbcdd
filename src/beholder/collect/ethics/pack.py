"""The ethics pack of a study: purpose, procedure, risks, pay, consent, data and withdrawal.

Everything here is derived from the settings by which the server works, so that it cannot say anything else than
what raters will meet. What only the researcher knows is listed at the end, as questions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2

from beholder.collect.session.consent import consent_hash, consent_text
from beholder.collect.session.progress import allowed_skips
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.duration import session_seconds, session_trials
from beholder.study.study import Study, load_study
from beholder.study.wages import base_pay, hourly_pay, session_minutes
from beholder.tables.atomic import write_atomically

TEMPLATE = Path(__file__).with_name("pack.html.j2")
NAMES = ("ethics.md", "ethics.html")

OPEN_QUESTIONS = (
    "Who is responsible, at which institution, and how can participants reach them?",
    "Who funds the study, and has anybody an interest in its outcome?",
    "On what legal basis are data processed, where is the server, and who has access to it?",
    "For how long are platform ids kept (they are needed for payment only) and for how long the answers?",
    "Are the images licensed for this use, and could any show or resemble real people?",
    "Who may take part (age, language, country), and who may not?",
)
"""What a board asks and no setting answers."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section: paragraphs, a table, a list, and texts that are quoted as they are."""

    title: str
    paragraphs: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    points: tuple[str, ...] = ()
    quotes: tuple[tuple[str, str], ...] = ()
    """heading and text"""


def write_pack(folder: Path, out: Path) -> tuple[Path, ...]:
    """Write the pack as Markdown and as one HTML file that prints well.

    Args:
        folder: Of the study.
        out: Folder to write into.

    Returns:
        The files.
    """
    study = load_study(folder)
    sections = ethics_sections(study)
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    page = template.render(title=study.title, sections=sections)
    out.mkdir(parents=True, exist_ok=True)
    files = tuple(out / name for name in NAMES)
    for path, text in zip(files, (markdown_of(study.title, sections), page), strict=True):
        with write_atomically(path) as stream:
            stream.write(text.encode())
    return files


def ethics_sections(study: Study) -> tuple[Section, ...]:
    """Return the sections of the pack.

    Args:
        study: The study.

    Returns:
        The sections, in the order of most forms.
    """
    purpose = study.description or "(Describe the purpose of the study: `description` in study.toml.)"
    hashes = "The texts that participants agree to, with the hash that is recorded."
    return (
        Section("Purpose", (purpose,)),
        Section("Procedure", *_procedure(study)),
        Section("Risks, and what is done about them", points=tuple(_risks(study))),
        Section("Pay", *_pay(study)),
        Section("Data", points=_DATA),
        Section("Withdrawal and deletion", points=_WITHDRAWAL),
        Section("Consent", (hashes,), quotes=_consents(study)),
        Section("Still to be answered by the researcher", points=OPEN_QUESTIONS),
    )


def markdown_of(title: str, sections: tuple[Section, ...]) -> str:
    """Return the pack as Markdown.

    Args:
        title: Of the study.
        sections: Of the pack.

    Returns:
        The text.
    """
    lines = [f"# Ethics review: {title}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        for paragraph in section.paragraphs:
            lines += [paragraph, ""]
        if section.heads:
            lines += [_row(section.heads), _row(("---",) * len(section.heads)), *map(_row, section.rows), ""]
        if section.points:
            lines += [*(f"- {point}" for point in section.points), ""]
        for heading, text in section.quotes:
            lines += [f"### {heading}", "", *(f"> {line}".rstrip() for line in text.splitlines()), ""]
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _procedure(study: Study) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    paragraphs = (
        "Participants open a link, read and agree to the consent, read instructions, and judge images on a web "
        "page, one trial after another. They can pause, skip images and leave at any time.",
    )
    heads = ("question", "kind", "participants", "trials each", "of these training and checks", "minutes")
    rows = tuple(
        (
            question.name,
            question.kind,
            str(question.design.raters),
            str(session_trials(question)),
            str(session_trials(question) - question.design.trials),
            f"{session_minutes(study, question):g}",
        )
        for question in study.questions
    )
    return paragraphs, heads, rows


def _risks(study: Study) -> Iterator[str]:
    yield (
        "Images may disturb. Each trial can be skipped without loss of pay, up to "
        f"{max(allowed_skips(study.collect.max_skips, q.design.trials) for q in study.questions)} per session."
    )
    flashing = [question.name for question in study.questions if kind_of(question).traits.flashes]
    if flashing:
        yield (
            f"Images and masks flash in {', '.join(flashing)}: people with photosensitive epilepsy are warned "
            "before they begin, and can leave."
        )
    if study.collect.break_minutes:
        yield f"Fatigue: a break is offered about every {study.collect.break_minutes:g} minutes."
    if any(_is_checked(question) for question in study.questions):
        yield "Some trials check attention; the consent says so, and says what follows for pay."
    yield "Being identified: see Data."


def _pay(study: Study) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, ...], ...]]:
    currency = study.pay.currency
    total = sum(base_pay(study, question) * question.design.raters for question in study.questions)
    paragraphs = [
        f"The minimum wage of the study is {study.pay.minimum_hourly:.2f} {currency} per hour. Pay is for "
        "complete sessions, in proportion for those who leave early, and does not depend on the answers"
        + (
            f", except for a bonus of {study.pay.per_right:.2f} per correct answer."
            if study.pay.per_right
            else "."
        ),
        f"All participants together: {total:.2f} {currency}, without fees of a platform and top-ups.",
    ]
    low = [q.name for q in study.questions if hourly_pay(study, q) < study.pay.minimum_hourly - 1e-9]
    if low:
        paragraphs.append(
            f"**Below the minimum wage: {', '.join(low)}.** The study file accepts this (accept_low)."
        )
    heads = ("question", "expected seconds", "pay", "per hour")
    rows = tuple(
        (
            question.name,
            f"{session_seconds(question):.0f}",
            f"{base_pay(study, question):.2f} {currency}",
            f"{hourly_pay(study, question):.2f} {currency}",
        )
        for question in study.questions
    )
    return tuple(paragraphs), heads, rows


def _consents(study: Study) -> tuple[tuple[str, str], ...]:
    quotes = []
    for question in study.questions:
        for language in study.collect.languages:
            text = consent_text(study, question, language)
            version = f"version {study.collect.consent_version} ({consent_hash(text)[:16]}…)"
            quotes.append((f"{question.name}, {language}, {version}", text))
    return tuple(quotes)


def _is_checked(question: AnyQuestion) -> bool:
    return bool(question.design.gold_every or question.design.attention_every or question.design.repeats)


_DATA = (
    "Answers are stored under a pseudonym, an HMAC of the platform's id under a secret of the study.",
    "Platform ids are in one table of the server's database, for payment, and in no export.",
    "No IP address is stored. Of the browser: sizes of screen and window, pixel ratio, zoom, frame period, touch, "
    "and the name it gives itself.",
    "Response times, skips and comments are stored with the answers.",
    "The database is readable by its owner alone (file mode 0600); the server is to be reached by HTTPS.",
)

_WITHDRAWAL = (
    "Withdraw is on every page after the consent, and deletes the answers on request; what was earned is paid.",
    "`beholder forget` deletes a participant, or who they are, in database and tables, and prints a receipt.",
    "`beholder forget --all-identities` deletes who everybody is, once payments are made.",
    "Models that were trained on deleted answers, and copies, have to be made again or deleted by hand.",
)
