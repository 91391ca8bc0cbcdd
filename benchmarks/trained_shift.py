"""How often trained models warn of images unlike their training set, and of images like it.

    python benchmarks/trained_shift.py CACHE                  # leave one kind of altered images out
    python benchmarks/trained_shift.py CACHE PICTURES …       # test it

How images are drawn was chosen by ``benchmarks/drawn_shift.py``. PICTURES are folders of images, such as
``openclipart-png``'s and ``tuxpaint-stamps-default``'s. Two warnings are trained as `beholder learn` trains them:
on the images of AGIQA-3K whose prompts are not put aside, and on a synthetic world, as a model of rich feedback
has them. The seeds are of pictures that nothing was chosen on.
"""

import argparse
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import cifar_images
import numpy as np
from agiqa_scorer import ASIDE, SOURCE, split_prompts
from agiqa_shift import rate
from numpy.typing import NDArray
from PIL import Image

from beholder.formats.agiqa import read
from beholder.images.decode import flatten
from beholder.images.in_order import batches
from beholder.learn.data_loader import ImageCache
from beholder.learn.shift import write_shift
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder, Vectors
from beholder.models.quality.packaged import ENCODERS
from beholder.models.shift.altered_set import altered_set
from beholder.models.shift.light import PIXELS, LoadedWarning, encode_light, load_warning
from beholder.models.shift.train import DRAWN, PromptedVectors, train_warning
from beholder.simulate.world import World, paint_world

DRAWN_SEED, TESTED = 2_026_111_921, 200
"""Of which pictures are drawn, and how many of each kind."""
TRAINING_WORLD, FRESH_WORLD, PROMPTS = 118_205, 118_206, 160
CHOSEN_WORLD, CHOSEN_ON = 7, 300
"""The seed of the world, and the number of images, that the encoders were chosen on."""
WORLD_SIDES = (192, 512)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("pictures", nargs="*", type=Path, metavar="PICTURES")
    arguments = parser.parse_args()
    if arguments.pictures:
        test(arguments.cache, arguments.pictures)
    else:
        choose("AGIQA-3K", agiqa_prompts()[0])
        choose("synthetic world", painted(arguments.cache, CHOSEN_WORLD, 192, PROMPTS))


def choose(name: str, prompts: Mapping[str, str]) -> None:
    """Print how often each kind of altered images is reported by a detector trained against the others."""
    rng = np.random.default_rng(0)
    files, numbers = sample(prompts, CHOSEN_ON)
    encoders = [load_encoder(encoder) for encoder in (*ENCODERS, PIXELS)]
    usual = encode_all(encoders, map(opened, files))
    kinds, prompt_of, images = zip(
        *(
            (kind, DRAWN if number is None else int(numbers[number]), image)
            for kind, number, image in altered_set(lambda number: opened(files[number]), len(files), rng)
        ),
        strict=True,
    )
    altered, by_kind = encode_all(encoders, images), np.array(kinds)
    print(f"| {name} | mean | {' | '.join(dict.fromkeys(kinds))} |\n|---|---|{'---|' * len(set(kinds))}")
    for names in ((PIXELS,), (ENCODERS[1], PIXELS), (*ENCODERS, PIXELS)):
        chosen = [encoder for encoder in encoders if encoder.name in names]
        columns = [np.concatenate([side[encoder.name] for encoder in chosen], axis=1) for side in (usual, altered)]
        rates = []
        for kind in dict.fromkeys(kinds):
            others = PromptedVectors(columns[1], np.array(prompt_of)).where(by_kind != kind)
            warning = train_warning(chosen, PromptedVectors(columns[0], numbers), others)
            rates.append(float((warning.shifts(columns[1][by_kind == kind]) > 1).mean()))
        cells = " | ".join(f"{value:.2f}" for value in [np.mean(rates), *rates])
        print(f"| {', '.join(names)} | {cells} |", flush=True)


def sample(prompts: Mapping[str, str], count: int) -> tuple[list[str], NDArray[np.int64]]:
    """Return some of the files, and the number of the prompt of each."""
    files = [str(file) for file in np.random.default_rng(0).permutation(sorted(prompts))[:count]]
    return files, np.unique([prompts[file] for file in files], return_inverse=True)[1]


def opened(file: str) -> Image.Image:
    return Image.open(file).convert("RGB")


def encode_all(encoders: Sequence[Encoder], images: Iterable[Image.Image]) -> dict[str, Vectors]:
    """Return the vectors of each encoder by its name, (images, dims)."""
    parts = [[encode_light([encoder], batch) for encoder in encoders] for batch in batches(images, 16)]
    columns = zip(encoders, zip(*parts, strict=True), strict=True)
    return {encoder.name: np.concatenate(each) for encoder, each in columns}


def test(cache: Path, folders: Sequence[Path]) -> None:
    """Print how often images are reported by the warnings of two models."""
    agiqa, aside = agiqa_prompts()
    trained = trained_on("agiqa", agiqa, cache)
    world = painted(cache, TRAINING_WORLD, 192, PROMPTS)
    rich = trained_on("world", world, cache)
    fresh = {
        side: painted(cache, FRESH_WORLD, side, TESTED // 5, without=set(world.values())) for side in WORLD_SIDES
    }
    others = {"CIFAR-10": list(cifar(cache))}
    others |= {folder.name: list(pictures(folder)) for folder in folders}
    report("AGIQA-3K, prompts put aside (false alarms)", [(trained, aside)])
    report("AGIQA-3K", [(rich, aside)])
    for side, images in fresh.items():
        report(f"synthetic world, {side} px", [(trained, list(images)), (rich, list(images))])
    for name, unlike in others.items():
        report(name, [(trained, unlike), (rich, unlike)])


def agiqa_prompts() -> tuple[dict[str, str], list[str]]:
    """Return the prompts of the development images by file, and the files of the prompts put aside."""
    table = read(SOURCE / "data.csv").sort("name")
    held_out = {prompt for prompt, fold in split_prompts(table["prompt"].unique()).items() if fold == ASIDE}
    by_file = {str(SOURCE / "image" / name): prompt for name, prompt in table.select("name", "prompt").iter_rows()}
    development = {file: prompt for file, prompt in by_file.items() if prompt not in held_out}
    contents = {Path(file).read_bytes() for file in development}
    aside = [file for file in by_file if file not in development and Path(file).read_bytes() not in contents]
    return development, aside


def trained_on(name: str, prompts: Mapping[str, str], cache: Path) -> LoadedWarning:
    folder = cache / f"trained-shift-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    began = time.process_time()
    seconds = write_shift(folder, ImageCache({file: file for file in prompts}), prompts, 0)
    processor = time.process_time() - began
    print(f"{name}: trained in {seconds:.0f} s by the clock, {processor:.0f} s of processor time", flush=True)
    return load_warning(folder)


def painted(cache: Path, seed: int, side: int, prompts: int, without: Iterable[str] = ()) -> dict[str, str]:
    """Return the prompts of the images of a synthetic world by file; without some prompts."""
    folder = cache / f"world-{seed}-{side}-{prompts}"
    done = folder / "prompts.csv"
    if not done.is_file():
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            images = paint_world(World(prompts=prompts, reals=1, size=side, seed=seed), Path(scratch), workers=1)
            lines = [f"{each.file}\t{each.prompt}" for each in images if not each.gold and not each.real]
            (Path(scratch) / "prompts.csv").write_text("\n".join(lines))
            Path(scratch).rename(folder)
            Path(scratch).mkdir()
    rows = [row.split("\t") for row in done.read_text().splitlines()]
    return {str(folder / file): prompt for file, prompt in rows if prompt not in set(without)}


def cifar(cache: Path) -> Iterator[Image.Image]:
    pixels = cifar_images.load(cache, "test", 10_000).images
    for index in np.random.default_rng(DRAWN_SEED).choice(len(pixels), TESTED, replace=False):
        yield Image.fromarray(pixels[index])


def pictures(folder: Path) -> Iterator[Image.Image]:
    files = [file for file in sorted(folder.rglob("*.png")) if file.is_file()]
    for index in np.random.default_rng(DRAWN_SEED).choice(len(files), TESTED, replace=False):
        yield flatten(Image.open(files[index])).convert("RGB")


def report(name: str, trials: Sequence[tuple[LoadedWarning, Sequence[str | Image.Image]]]) -> None:
    cells = []
    for warning, images in trials:
        opened = (Image.open(image).convert("RGB") if isinstance(image, str) else image for image in images)
        shifts = np.concatenate([warning.shifts(batch) for batch in batches(opened, 16)])
        cells.append(f"{len(shifts)} | {rate(shifts > 1)}")
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
