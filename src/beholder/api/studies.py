"""Studies in Python: opened, made from images and a protocol, or imported from published data."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from beholder.api.study_folder import StudyFolder
from beholder.design.new import make_study
from beholder.formats.importing import import_folder
from beholder.study.study import Pay, load_study


def open_study(folder: str | Path) -> StudyFolder:
    """Open a study that exists.

    Args:
        folder: The study folder, with its ``study.toml``.

    Returns:
        The study: tables as data frames, settings, stages, leaderboards, figures.

    Example:
        >>> import beholder as bh
        >>> study = bh.open_study("my-study")
        >>> study.ratings.select("generator", "rating").shape
        (15, 2)
        >>> study.leaderboard().plot().save("ratings.svg")
    """
    path = Path(folder)
    load_study(path)
    return StudyFolder(path)


def new_study(
    protocol: str | Sequence[str],
    folder: str | Path,
    *,
    generated: Mapping[str, str | Path] = MappingProxyType({}),
    real: str | Path | Sequence[str | Path] = (),
    gold: Mapping[str, str | Path] = MappingProxyType({}),
    manifest: str | Path | None = None,
    name: str | None = None,
    title: str | None = None,
    seed: int = 0,
    copy: bool = False,
    raters: int | None = None,
    trials: int | None = None,
    numbers: Mapping[str, int] = MappingProxyType({}),
    pay: Pay | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StudyFolder:
    """Make a study from a protocol and images, as ``beholder new`` does.

    Args:
        protocol: One of ``beholder protocols``, such as ``hpd-pairs``, or several.
        folder: Where; it must be new or empty.
        generated: The folder of each generator's images, by the generator's name.
        real: Folders of real images.
        gold: Folders of images that serve only to check raters, by name.
        manifest: A CSV or Parquet list of images, in place of folders.
        name: Of the study; from the folder by default.
        title: That participants see; from the name by default.
        seed: Makes all random draws reproducible.
        copy: Copy the images into the study.
        raters: Per question; as published by default, fitted to the images.
        trials: Per rater; as published by default, fitted to the images.
        numbers: Other numbers of the design by the name of their setting, such as ``{"repeats": 0}``.
        pay: Currency, pay and least wage; 12 USD an hour by default.
        progress: Called with the number of images read, and of all images.

    Returns:
        The study; its ``notes`` say which numbers were fitted to the images.

    Example:
        >>> import beholder as bh
        >>> study = bh.new_study("mos", "my-mos", generated={"ember": "pictures/ember"}, raters=12, trials=20)
        >>> study.run(simulate=12).stages[0].stage
        'design'
    """
    new = make_study(
        [protocol] if isinstance(protocol, str) else protocol,
        Path(folder),
        generated=[(generator, Path(path)) for generator, path in generated.items()],
        real=[Path(real)] if isinstance(real, str | Path) else [Path(path) for path in real],
        gold=[(generator, Path(path)) for generator, path in gold.items()],
        manifest=None if manifest is None else Path(manifest),
        name=name,
        title=title,
        seed=seed,
        copy=copy,
        raters=raters,
        trials=trials,
        numbers=numbers,
        pay=pay,
        progress=progress,
    )
    changes = tuple(
        f"{question}: changed to fit: {'; '.join(map(str, changes))}"
        for question, changes in new.changes.items()
        if changes
    )
    return StudyFolder(new.folder, (*changes, *new.notes))


def import_study(
    form: str, source: str | Path, folder: str | Path, *, images: str | Path | None = None
) -> StudyFolder:
    """Make a study from published data, as ``beholder import`` does.

    Args:
        form: The format, such as ``agiqa``, ``layer6``, ``hpd`` or ``pickapic``.
        source: A file or folder in that format.
        folder: Where the study is written; it must be new or empty.
        images: Where the image files lie, if you have them.

    Returns:
        The study; its ``notes`` say what the data lacks, and what does not add up in it.

    Example:
        >>> import beholder as bh
        >>> study = bh.import_study("agiqa", "agiqa.csv", "agiqa-study")
        >>> study.run().stages[-1].stage
        'report'
    """
    imported = import_folder(form, Path(source), Path(folder), images=None if images is None else Path(images))
    wrong = (f"does not add up: {difference}" for difference in imported.differences)
    return StudyFolder(Path(folder), (*imported.notes, *wrong))
