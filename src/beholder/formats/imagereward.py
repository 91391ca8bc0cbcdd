"""ImageReward: one ranking a prompt, agreed on by all people; ``{id, prompt, generations: […], ranking: […]}``.

The rank at a place is that of the image at the same place, 1 the best; ties share a rank. The released file leaves
gaps (1, 2, 5, 3 for four images); reading closes them and keeps order and ties.
"""

import json
from pathlib import Path

import polars as pl

from beholder.errors import TableError
from beholder.formats.answered import answered_tests, competition_ranks, public_paths
from beholder.formats.format import Imported, Tables, Written, questions_of
from beholder.formats.imported import Judged, about_files, tables_from
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
    """Our tables: a person of the name ``imagereward-consensus`` who ranked every prompt."""
    return tables_from(read_judged(path), platform="imagereward", images=images)


def read_judged(path: Path) -> list[Judged]:
    """All rankings of a file; what is wrong with any of them is said at once."""
    entries = read_list(path)
    check_entries(path, entries, _faults)
    if not entries:
        raise TableError(str(path), ["no rankings here"])
    return [
        Judged(
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
    judged = read_judged(source / RELEASED if source.is_dir() else source)
    tables = tables_from(judged, platform="imagereward", images=images)
    notes = [
        "Each ranking is what all people agreed on; it counts as one person's, so there are no intervals.",
        "Ranks close up: 1, 2, 5, 3 of four images becomes 1, 2, 4, 3. The ids of the entries are left out.",
        *(NO_GENERATORS, NO_TIMES),
        *notes_on(judged),
        *about_files(tables["images"]),
    ]
    study = Study(
        name=QUESTION,
        title="ImageReward",
        description="Published rankings, each agreed on by all people.",
        questions=(question_of(QUESTION, judged),),
    )
    return Imported(study, tables, tuple(notes), tuple(differences_in(judged)))


def _entries(answers: pl.DataFrame, paths: dict[str, str]) -> list[Entry]:
    groups: dict[tuple[str, str, tuple[str, ...]], list[list[int]]] = {}
    for prompt, text, images, ranking in answers.select("prompt", "text", "images", "ranking").iter_rows():
        shown = sorted(zip((paths[image] for image in images), ranking, strict=True))
        place = (prompt or "", text, tuple(path for path, _ in shown))
        groups.setdefault(place, []).append([rank for _, rank in shown])
    return [
        {
            "id": prompt,
            "prompt": text,
            "generations": list(shown),
            "ranking": competition_ranks([sum(column) / len(given) for column in zip(*given, strict=True)]),
        }
        for (prompt, text, shown), given in groups.items()
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
