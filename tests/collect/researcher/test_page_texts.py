"""The researcher's pages read as text: every word in both languages, and every sentence that the server makes."""

import json
import re
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args

import pytest

from beholder.care.governance import SEATS
from beholder.care.top_ups import PaidWork, top_ups
from beholder.collect.panel.fair_pay import EXCEEDS
from beholder.collect.panel.payments import STATUSES as PAYMENT_STATUSES
from beholder.collect.panel.voices import FLAG_KINDS
from beholder.collect.prototype.researcher_view import texts_of
from beholder.collect.researcher.accounts import ROLES
from beholder.collect.researcher.raters import FLAGS
from beholder.collect.researcher.results import FIXED_NOTE, NOBODY_FINISHED, NOTE
from beholder.collect.routes.researcher import FORMATS
from beholder.collect.server.disk import NO_ROOM, Disk, low_disk_warning
from beholder.collect.session.messages import Skip
from beholder.rank.side_by_side import TIE_RULE as SIDE_BY_SIDE
from beholder.stats.comparisons.bradley_terry import TIE_RULE as BRADLEY_TERRY
from beholder.stats.comparisons.plackett_luce import TIE_RULE as PLACKETT_LUCE
from beholder.stats.comparisons.thurstone import TIE_RULE as THURSTONE
from beholder.study.collecting import Collecting
from beholder.study.job_questions import SURVEY_KEYS
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Example
from beholder.study.study import Study
from beholder.tables.schemas.collect import STATUSES

COLLECT = Path(__file__).parents[3] / "src" / "beholder" / "collect"
PAGES = COLLECT / "pages"
SCRIPTS = sorted([*(PAGES / "researcher").glob("*.js"), *(PAGES / "panel" / "researcher").glob("*.js")])
EN: dict[str, str]
DE: dict[str, str]
EN, DE = (
    json.loads((COLLECT / "texts" / "researcher" / f"{language}.json").read_text())
    | json.loads((COLLECT / "texts" / "panel" / "researcher" / f"{language}.json").read_text())
    for language in ("en", "de")
)
NO_WORDS = re.compile(r"//[^\n]*|/\*.*?\*/|import [^;]*;|class: (?:\$\{[^}]*\}|[^,{}])*", re.DOTALL)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
TEMPLATE = re.compile(r"`((?:[^`\\]|\\.)*)`")
UNITS = {"min", "Hz", "GB", "MB"}
LANGUAGES = {"English", "Deutsch"}


def words_in(script: str) -> list[str]:
    """Return the literals of a script that people would read: capitalised, or with a word of their own."""
    code = NO_WORDS.sub("", script)
    literals = [*LITERAL.findall(code), *(re.sub(r"\$\{[^{}]*\}", "", text) for text in TEMPLATE.findall(code))]
    spoken = [
        text for text in literals if re.search(r"^[A-Z][a-z]+|(?:^|\s)[A-Za-z]{2,}(?:\s|$)", text) and " " in text
    ]
    single = [text for text in literals if re.fullmatch(r"[A-Z][a-z]+[.…?]?", text)]
    read = {*spoken, *single} - LANGUAGES
    return sorted(text for text in read if text.strip() not in UNITS and not re.match(r"(?:.* )?beholder\b", text))


def test_both_languages_have_the_same_keys_and_placeholders() -> None:
    assert list(EN) == list(DE)
    for key, text in EN.items():
        assert text.strip(), key
        assert DE[key].strip(), key
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", DE[key])), key


def test_german_is_german() -> None:
    """What is the same in both languages is a name, or a word that German has, too."""
    same = {
        text
        for key, text in EN.items()
        if text == DE[key] and re.search(r"[A-Za-z]{3}", re.sub(r"\{\w+\}", "", text))
    }
    assert same == {"Name", "Token", "Status", "Panel", "Panel · beholder", "Prompts", "Generator"}
    assert [key for key, text in DE.items() if '"' in text or "..." in text] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(PAGES)))
def test_scripts_hold_no_words(path: Path) -> None:
    assert words_in(path.read_text()) == []


def test_words_in_a_script_are_noticed() -> None:
    script = (
        'h("p", { class: "quiet small" }, "Nothing yet."); `${a} of 5`; "Later"; t("later"); `${decimal(a)} min`'
    )
    assert words_in(script) == [" of 5", "Later", "Nothing yet."]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(PAGES)))
def test_every_text_that_a_script_names_is_there(path: Path) -> None:
    text = path.read_text()
    named = set(re.findall(r"""\bt\("([^"]+)""", text)) | set(re.findall(r'texts\["([^"]+)"\]', text))
    for alternatives in re.findall(r"\bt\([\w.! =]+\? ([^)]*)", text):
        named |= set(re.findall(r'"([^"]+)"', alternatives.partition(", {")[0]))
    assert named - set(EN) == set()
    for name in re.findall(r"""plural\([^"]*?"([a-z-]+)"\)""", text):
        assert {f"count.{name}.one", f"count.{name}.other"} <= set(EN), name
    for prefix in re.findall(r"\bt\(`([a-z.-]+)\.\$\{", text) + re.findall(r"""named\("([a-z.-]+)",""", text):
        assert [key for key in EN if key.startswith(f"{prefix}.")], prefix
    for banned in ("innerHTML", "outerHTML", "eval(", 'setAttribute("style"', "document.write"):
        assert banned not in text, banned


def test_no_text_is_left_that_nothing_shows() -> None:
    code = "".join(path.read_text() for path in (*SCRIPTS, *PAGES.rglob("researcher/*.html")))
    prefixes = set(re.findall(r"`([a-z.-]+\.)\$\{", code)) | {
        f"{name}." for name in re.findall(r'named\("([a-z.-]+)"', code)
    }
    unused = [
        key
        for key in EN
        if f'"{key}"' not in code
        and not key.startswith(("count.", "sentence.", *prefixes))
        and f"texts.{key}" not in code
    ]
    assert unused == []


def key_of(value: str) -> str:
    return value.replace(" ", "-")


def test_every_value_of_a_closed_list_has_words() -> None:
    flags = {*FLAGS.values(), "claimed more time than had passed", "under the minimum wage"}
    assert {f"flag.{key_of(flag)}" for flag in flags} <= set(EN)
    assert {f"session.{status}" for status in STATUSES} <= set(EN)
    assert {f"payment.{status}" for status in PAYMENT_STATUSES} <= set(EN)
    assert {f"study.flag.{key_of(kind)}" for kind in FLAG_KINDS} <= set(EN)
    assert {f"board.role.{role}" for role in SEATS} <= set(EN)
    assert {f"role.{role}" for role in ROLES} | {f"role.{role}.about" for role in ROLES} <= set(EN)
    assert {f"format.{name}" for name in FORMATS} <= set(EN)
    assert {f"skip.{reason}" for reason in get_args(Skip.model_fields["reason"].annotation)} <= set(EN)
    characteristics = {name.removesuffix("-reversed") for name in SURVEY_KEYS}
    assert {f"job.{name}" for name in characteristics} | {
        f"job.weakest.{name}" for name in characteristics
    } <= set(EN)
    for decision in ("publish", "revise", "ask more"):
        assert f"round.decision.{key_of(decision)}" in EN


def test_every_action_in_a_log_has_words() -> None:
    entries = set()
    for path in (*COLLECT.rglob("*.py"), COLLECT.parent / "cli" / "panel.py"):
        if path.is_file():
            entries |= set(re.findall(r'write_entry\(\s*\w+, "([a-z ]+)"', path.read_text()))
            entries |= set(re.findall(r'log_action\(\s*\w+, "([a-z-]+)"', path.read_text()))
    assert {"study opened", "exclude"} <= entries
    assert {f"log.{key_of(entry)}" for entry in entries} <= set(EN)


def key_of_sentence(sentence: str) -> str | None:
    """Find the text that the page shows for a sentence, as `language.js` does."""
    for key, text in EN.items():
        if key.startswith("sentence."):
            pattern = re.sub(r"\\\{\w+\\\}", "(.+?)", re.escape(text))
            if re.fullmatch(pattern, sentence, re.DOTALL):
                return key
    return None


def sentences() -> dict[str, str]:
    work = [
        PaidWork("r", "s", active, 10, frozen) for active, frozen in ((900.0, ""), (10.0, ""), (10.0, EXCEEDS))
    ]
    reasons = [up.reason for up in top_ups(work, effective_seconds=300, hourly=Decimal("12.50"))]
    folder = Path("study")
    return dict(
        zip(
            (
                "sentence.top-up.measured",
                "sentence.top-up.median",
                "sentence.top-up.median.frozen",
                "sentence.warning.full",
                "sentence.warning.low",
                "sentence.results.anytime",
                "sentence.results.fixed",
                "sentence.results.nobody",
                "sentence.refused.room",
                "sentence.frozen.exceeds",
                "sentence.ties.davidson",
                "sentence.ties.rankings",
                "sentence.ties.half",
                "sentence.ties.middle",
            ),
            (
                *reasons,
                low_disk_warning(folder, Disk(0, 10**12, low=True)),
                low_disk_warning(folder, Disk(3 * 10**8, 10**12, low=True)),
                NOTE,
                FIXED_NOTE,
                NOBODY_FINISHED,
                NO_ROOM,
                EXCEEDS,
                BRADLEY_TERRY,
                PLACKETT_LUCE,
                THURSTONE,
                SIDE_BY_SIDE,
            ),
            strict=True,
        )
    )


def test_the_server_s_sentences_are_recognised() -> None:
    assert {key: key_of_sentence(words) for key, words in sentences().items()} == {key: key for key in sentences()}
    assert key_of_sentence("He answered far too fast.") is None


def test_sentences_of_the_server_stand_in_its_code() -> None:
    """Sentences that need a server to be made: their first words stand in the code that makes them."""
    code = re.sub(r'"\s*\n\s*f?"', "", "".join(path.read_text() for path in COLLECT.rglob("*.py")))
    made = set(sentences())
    for key, text in EN.items():
        if (
            key.startswith("sentence.")
            and key not in made
            and not key.startswith(("sentence.place.", "sentence.top-up"))
        ):
            longest = max(re.split(r"\{\w+\}", text), key=len)
            assert longest in code, key


def test_places_of_revised_texts_are_recognised() -> None:
    example = Example(image="i", verdict="good", caption={"en": "sharp"})
    question = PairQuestion(
        name="q", text="?", instructions={"en": "Look."}, labels={"left": "A"}, examples=(example,)
    )
    study = Study(name="s", title="t", questions=(question,), collect=Collecting(consent={"en": "I agree."}))
    places = texts_of(study)
    keys = {key_of_sentence(place) for place in places}
    assert keys == {"sentence.place.title", "sentence.place.description", "sentence.place.pay", None} | {
        f"sentence.place.{name}" for name in ("consent", "instructions", "label", "example")
    }
    assert [place for place in places if key_of_sentence(place) is None] == ["q"]  # a question's name is its own
    assert key_of_sentence(places["pay"]) == "sentence.place.pay.value"


class Fallbacks(HTMLParser):
    """Collect the English text of every element that a script translates."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self._key: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._key = dict(attrs).get("data-text")
        if self._key:
            self.texts[self._key] = ""

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._key = None

    def handle_data(self, data: str) -> None:
        if self._key:
            self.texts[self._key] += data


@pytest.mark.parametrize("name", ["researcher/index.html", "researcher/login.html", "panel/researcher/index.html"])
def test_pages_without_script_say_the_same_in_english(name: str) -> None:
    reader = Fallbacks()
    reader.feed((PAGES / name).read_text())
    assert reader.texts
    for key, text in reader.texts.items():
        assert text == "" or " ".join(text.split()) == EN[key], key
