"""ImageReward: one ranking per prompt, agreed on by all raters; ``{id, prompt, generations: […], ranking: […]}``.

The rank at a place is that of the image at the same place, 1 the best; ties share a rank. The released file leaves
gaps (1, 2, 5, 3 for four images); reading closes them and keeps order and ties.
"""

import json
from pathlib import Path

import polars as pl

from beholder.errors import TableError
from beholder.formats.answered import answered_tests, competition_ranks, public_paths
from beholder.formats.format import Imported, Tables, Written, questions_of
from beholder.formats.imported import ImportedJudgement, about_files, tables_from
from beholder.formats.ranked import NO_GENERATORS, NO_TIMES, differences_in, notes_on, question_of
from beholder.formats.reading import Entry, check_entries, numbers, read_list, texts
from beholder.study.study import Study

QUESTION, RATER = "imagereward", "imagereward-consensus"
FILE, RELEASED = "imagereward.json", "test.json"


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """The order of the mean ranks of every set of images that was ranked."""
    paths = public_paths(tables["images"])
    entries: list[Entry] = []
    for name in questions_of(study, ("ranking",), "ImageReward"):
        entries += _entries(answered_tests(tables, name), paths)
    (folder / FILE).write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding="utf-8")
    return Written((folder / FILE,), () if entries else ("no answers yet",))


def read(path: Path, *, images: Path | None = None) -> dict[str, pl.DataFrame]:
    """Our tables: a rater of the name ``imagereward-consensus`` who ranked every prompt."""
    return tables_from(read_judgements(path), platform="imagereward", images=images)


def read_judgements(path: Path) -> list[ImportedJudgement]:
    """All rankings of a file; the faults of all of them are raised at once."""
    entries = read_list(path)
    check_entries(path, entries, _faults)
    if not entries:
        raise TableError(str(path), ["no rankings here"])
    return [
        ImportedJudgement(
            QUESTION,
            "ranking",
            RATER,
            entry["prompt"],
            tuple(entry["generations"]),
            ranking=tuple(competition_ranks(entry["ranking"])),
        )
        for entry in entries
    ]


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from ``test.json``, or from a folder with it."""
    judgements = read_judgements(source / RELEASED if source.is_dir() else source)
    tables = tables_from(judgements, platform="imagereward", images=images)
    notes = [
        "Each ranking is what all raters agreed on; it counts as one rater's and has no confidence intervals.",
        "Ranks close up: 1, 2, 5, 3 of four images becomes 1, 2, 4, 3. The ids of the entries are left out.",
        *(NO_GENERATORS, NO_TIMES),
        *notes_on(judgements),
        *about_files(tables["images"]),
    ]
    study = Study(
        name=QUESTION,
        title="ImageReward",
        description="Published rankings, each agreed on by all raters.",
        questions=(question_of(QUESTION, judgements),),
    )
    return Imported(study, tables, tuple(notes), tuple(differences_in(judgements)))


def _entries(answers: pl.DataFrame, paths: dict[str, str]) -> list[Entry]:
    groups: dict[tuple[str, str, tuple[str, ...]], list[list[int]]] = {}
    for prompt, text, images, ranking in answers.select("prompt", "text", "images", "ranking").iter_rows():
        ranked = sorted(zip((paths[image] for image in images), ranking, strict=True))
        place = (prompt or "", text, tuple(path for path, _ in ranked))
        groups.setdefault(place, []).append([rank for _, rank in ranked])
    return [
        {
            "id": prompt,
            "prompt": text,
            "generations": list(files),
            "ranking": competition_ranks([sum(column) / len(rankings) for column in zip(*rankings, strict=True)]),
        }
        for (prompt, text, files), rankings in groups.items()
    ]


def _faults(entry: Entry) -> list[str]:
    faults = [f"{name}: a text was expected" for name in ("id", "prompt") if not isinstance(entry.get(name), str)]
    files, ranks = entry.get("generations"), entry.get("ranking")
    if not texts(files):
        return [*faults, "generations: a list of paths was expected"]
    if len(set(files)) != len(files):
        faults.append("generations: a path occurs twice")
    if not numbers(ranks) or len(ranks) != len(files):
        faults.append(f"ranking: {len(files)} whole numbers were expected; found {ranks!r}")
    return faults
