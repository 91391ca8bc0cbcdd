"""Which degradations of CIFAR-10's test set each distance detects: ``python benchmarks/cifar.py``.

Every set is compared with the same training images. Features and results are cached as they are computed, so
that a killed run can be resumed; ``--show`` prints the tables and draws the chart of
``docs/measured/cifar.md`` from what is there.
"""

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import numpy as np
import vl_convert
from cifar_features import CACHE, COUNT, Features, clean, faulty_sets, logits_of
from cifar_images import COPIED, FAULTS, KEPT_CLASSES

from beholder.distances.catalogue import DISTANCES, Sets, compute_distances
from beholder.errors import StatisticsError

RESULTS = CACHE / f"distances-{COUNT}.json"
SIZES = (100, 200, 500, 1000)
MIDDLE = 2
"""The strength at which the number of images is varied."""

STRENGTHS = {name: fault.strengths for name, fault in FAULTS.items()} | {"modes": KEPT_CLASSES, "copies": COPIED}
UNITS = {name: fault.unit for name, fault in FAULTS.items()}
UNITS |= {"modes": "classes kept, of 10", "copies": "share memorised"}
IMAGES = Path(__file__).parents[1] / "docs" / "images"
Z = 1.959964

Results = dict[str, dict[str, list[float]]]
"""Set -> distance -> value, low, high; missing where it is not defined."""


@dataclass(frozen=True)
class Job:
    """A set to be compared with training images."""

    key: str
    generated: Features
    size: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    if not parser.parse_args().show:
        compute()
    show(json.loads(RESULTS.read_text()))


def compute() -> None:
    """Compute all distances of all sets that are not cached yet."""
    clean_features = clean()
    results: Results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for job in _jobs(clean_features.test, list(faulty_sets(clean_features))):
        if job.key in results:
            continue
        size = job.size
        train, held_out = (
            clean_features.train[:size],
            clean_features.train[size : 2 * size],
        )  # these are copied by nobody
        sets = Sets(train, job.generated, logits=logits_of(job.generated))
        copying = Sets(held_out, job.generated, train=train)
        results[job.key] = {}
        for name in DISTANCES:
            try:
                distance = compute_distances([name], copying if name == "ct" else sets)[name]
            except StatisticsError as error:
                print(f"{job.key}: {name} is not defined ({error})", flush=True)
                continue
            results[job.key][name] = [distance.value, distance.low, distance.high]
        RESULTS.write_text(json.dumps(results))
        print(job.key, flush=True)


def _jobs(test: Features, faulty: list[tuple[str, float, Features]]) -> Iterator[Job]:
    """Return clean sets, all degradations and strengths, then the middle strength with other sample sizes."""
    yield Job(f"clean {COUNT}", test[:COUNT], COUNT)
    for name, strength, features in faulty:
        yield Job(f"{name} {strength}", features, COUNT)
    for size in SIZES[:-1]:
        yield Job(f"clean {size}", test[:size], size)
        for name, strength, features in faulty:
            if strength == STRENGTHS[name][MIDDLE]:
                rng = np.random.default_rng(size)  # copies come first, so some are drawn
                yield Job(f"{name} {strength} of {size}", features[rng.permutation(COUNT)[:size]], size)
    if len(test) > 2 * COUNT:
        yield Job(f"clean {2 * COUNT}", test[: 2 * COUNT], 2 * COUNT)


def show(results: Results) -> None:
    """Print the tables, and draw the charts."""
    base = results[f"clean {COUNT}"]
    names = [name for name in DISTANCES if name in base]
    for fault, strengths in STRENGTHS.items():
        print(f"\n### {fault}: {UNITS[fault]}\n")
        print(f"| distance | clean | {' | '.join(f'{strength:g}' for strength in strengths)} |")
        print(f"|---|---|{'---|' * len(strengths)}")
        for name in names:
            cells = [
                _cell(results.get(f"{fault} {strength}", {}).get(name), base[name], name) for strength in strengths
            ]
            print(f"| `{name}` | {_number(base[name][0])} | {' | '.join(cells)} |")
    print("\n### number of images\n")
    sizes = [*SIZES, *([2 * COUNT] if f"clean {2 * COUNT}" in results else [])]
    print(f"| distance | {' | '.join(f'clean, {size:,}' for size in sizes)} | {' | '.join(STRENGTHS)} |")
    print(f"|---|{'---|' * (len(sizes) + len(STRENGTHS))}")
    for name in names:
        values = [_number(results[f"clean {size}"].get(name, [math.nan])[0]) for size in sizes]
        needed = [_needed(results, name, fault) for fault in STRENGTHS]
        print(f"| `{name}` | {' | '.join(values)} | {' | '.join(needed)} |")
    draw(results, names)


def change(degraded: list[float] | None, base: list[float], name: str) -> float | None:
    """Return by how many standard errors a value is worse than the clean one; below 0: better."""
    if degraded is None or not all(map(math.isfinite, [*degraded, *base])):
        return None
    error = math.hypot(degraded[2] - degraded[1], base[2] - base[1]) / (2 * Z)
    if error == 0:
        return None
    difference = degraded[0] - base[0]
    if DISTANCES[name].better == "zero":
        difference = abs(degraded[0]) - abs(base[0])
    return (-difference if DISTANCES[name].better == "higher" else difference) / error


def _cell(degraded: list[float] | None, base: list[float], name: str) -> str:
    """Return the value; bold where it is significantly worse, in parentheses where better."""
    if degraded is None:
        return "–"
    far = change(degraded, base, name)
    text = _number(degraded[0])
    if far is None or abs(far) < Z:
        return text
    return f"**{text}**" if far > 0 else f"({text})"


def _needed(results: Results, name: str, fault: str) -> str:
    """Return the smallest number of images from which on the middle strength is detected as worse."""
    strength, needed = STRENGTHS[fault][MIDDLE], "–"
    for size in reversed(SIZES):
        key = f"{fault} {strength}" + ("" if size == COUNT else f" of {size}")
        far = change(results.get(key, {}).get(name), results[f"clean {size}"].get(name, [math.nan] * 3), name)
        if far is None or far < Z:
            break
        needed = f"{size:,}"
    return needed


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{min(digits, 6)}f}".replace("-", "−")


def draw(results: Results, names: list[str]) -> None:
    """Draw the change of each distance with each degradation, in standard errors."""
    base = results[f"clean {COUNT}"]
    rows = [
        {"distance": name, "fault": fault, "strength": index + 1, "worse": max(-40.0, min(40.0, far))}
        for fault, strengths in STRENGTHS.items()
        for index, strength in enumerate(strengths)
        for name in names
        if (far := change(results.get(f"{fault} {strength}", {}).get(name), base[name], name)) is not None
    ]
    width, height = 118, 74
    x = alt.X("strength:O", title=None, axis=alt.Axis(labelAngle=0))
    y = alt.Y(
        "worse:Q",
        title=None,
        scale=alt.Scale(type="symlog", constant=2, domain=[-40, 40]),
        axis=alt.Axis(values=[-40, -10, 0, 10, 40]),
    )
    base_chart = alt.Chart()
    band = base_chart.mark_rect(color="#e6e6e6").encode(y=alt.datum(-Z), y2=alt.datum(Z))
    line = base_chart.mark_line(point=alt.OverlayMarkDef(size=28), color="#00587f").encode(x=x, y=y)
    chart = (
        alt.layer(band, line, data=alt.InlineData(values=rows))
        .properties(width=width, height=height)
        .facet(
            row=alt.Row("distance:N", sort=names, title=None, header=alt.Header(labelAngle=0, labelAlign="left")),
            column=alt.Column("fault:N", sort=list(STRENGTHS), title=None),
            spacing=8,
        )
        .configure(background="white", font="DejaVu Sans")
    )
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "cifar.png").write_bytes(vl_convert.vegalite_to_png(chart.to_dict(validate=False), scale=1.4))


if __name__ == "__main__":
    main()
