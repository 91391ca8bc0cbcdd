"""Three adversarial rounds against small networks that see single flaws, retrained from their parents each time.

    python benchmarks/rounds_network.py [--seed 201] [--worlds 10] [--cache FOLDER]

The world, the attackers, the verifiers and the control are those of ``rounds_scorer.py``. The scorer is the mean
of three networks on the frozen grid of features of EfficientNet-lite0 (12 × 12 cells). They are trained on mean
ratings of plausibility and on the cells that raters marked as implausible, of which they miss one in five: as
``tiny-rich-cnn``, they learn where flaws are, and a head turns that into a score. The networks of a round start
from their parents. They are trained on static images again, on verified pairs as differences of at least MARGIN,
and towards the scores that the first model has on static images, which keeps what attacks do not contradict. The
tables of the first world come first, then both changes in all worlds, whose seeds follow each other. Settings were
chosen on seeds 1 and 2. What was rendered or trained before is read from the cache.
"""

import argparse
import copy
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rounds_scorer as world
import torch
from numpy.typing import NDArray
from rounds_scorer import Images, Pairs, Round, joined, pairs_of
from scipy import stats
from torch import nn
from torch.nn import functional

from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.simulate.grammar import Request, draw_requests
from beholder.simulate.painter import Policy, paint
from beholder.simulate.policies import GENERATORS
from beholder.stats.intervals.proportions import wilson

CELLS, CHANNELS, AXES, WIDTH = 12, 296, 64, 48
"""Of the grid: cells along a side, features of a cell, principal axes of these that are used; channels of ours."""

EPOCHS, RATE = 30, 2e-3
"""Of the first model."""

AGAIN, AGAIN_RATE = 16, 5e-4
"""Epochs and learning rate of a model that starts from its parent."""

WEIGHT, MARGIN, ANCHOR = 2.0, 0.15, 1.0
"""Of verified pairs: weight, and difference to be reached; weight of the first model's scores on static images."""

MARKED, MISSED = 0.3, 0.2
"""Proportion of a cell from which it counts as implausible, and how often raters miss one."""

BATCH, PAIRS, DROPOUT, DECAY, SCALE = 32, 16, 0.2, 0.01, 10.0

MEMBERS = 3
"""Networks that are trained side by side from other starts and in another order; a model's score is their mean."""

Floats = NDArray[np.float64]


class Network(nn.Module):
    """From cells (n, AXES, 12, 12) to scores (n,) and logits that a cell is implausible (n, 12, 12)."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = nn.Conv2d(AXES, WIDTH, 3, padding=1)
        self.flaw = nn.Conv2d(WIDTH, 1, 1)
        self.flaw.bias = nn.Parameter(torch.full((1,), -3.0))
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Sequential(nn.Linear(3 * WIDTH + 3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, cells: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = torch.relu(self.cells(cells))
        flat, logits = hidden.flatten(2), self.flaw(hidden)[:, 0]
        chances = torch.sigmoid(logits).flatten(1)
        worst = chances.topk(12, 1).values
        found = torch.stack([chances.sum(1) / 4, worst[:, :4].mean(1), worst.mean(1)], 1)
        pooled = torch.cat([flat.mean(2), flat.amax(2), flat.std(2)], 1)
        return self.head(torch.cat([self.dropout(pooled), found], 1))[:, 0] + 0.7, logits


@dataclass(frozen=True, eq=False)
class Static:
    """What a model is trained on besides attacks."""

    cells: torch.Tensor  # (images, AXES, 12, 12)
    ratings: torch.Tensor  # (images,)
    marks: torch.Tensor  # (images, 12, 12), 1 where raters marked a cell


@dataclass(frozen=True, eq=False)
class Scored:
    """A model by its scores of all attackers' images, and of the static test set after them."""

    values: Floats

    def scores(self, numbers: NDArray[np.float32]) -> Floats:
        """Images are named by their numbers, which stand where other scorers have vectors."""
        return self.values[numbers[:, 0].astype(np.int64)]


def train(
    network: Network,
    static: Static,
    pairs: tuple[torch.Tensor, torch.Tensor] | None,
    anchor: torch.Tensor | None,
    member: int,
) -> Network:
    """Train a member in place, on static images and on pairs (better, worse), and return the network."""
    epochs, rate = (EPOCHS, RATE) if pairs is None else (AGAIN, AGAIN_RATE)
    order = torch.Generator().manual_seed(member)
    torch.manual_seed(member)
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    steps = epochs * (len(static.ratings) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    network.train()
    for _ in range(epochs):
        shuffled = torch.randperm(len(static.ratings), generator=order)
        for rows in shuffled[: steps // epochs * BATCH].view(-1, BATCH):
            scores, logits = network(static.cells[rows])
            loss = SCALE * functional.mse_loss(scores, static.ratings[rows])
            loss = loss + functional.binary_cross_entropy_with_logits(
                logits, static.marks[rows], pos_weight=torch.tensor(2.0)
            )
            if anchor is not None:
                loss = loss + ANCHOR * SCALE * functional.mse_loss(scores, anchor[rows])
            if pairs is not None:
                drawn = torch.randint(0, len(pairs[0]), (PAIRS,), generator=order)
                lead = network(pairs[0][drawn])[0] - network(pairs[1][drawn])[0]
                loss = loss + WEIGHT * SCALE * torch.relu(MARGIN - lead).square().mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return network.eval()


def mean_score(members: list[Network], cells: torch.Tensor) -> torch.Tensor:
    """The mean over the members of their scores of images."""
    with torch.no_grad():
        parts = [
            torch.stack([member(cells[start : start + 256])[0] for member in members]).double().mean(0)
            for start in range(0, len(cells), 256)
        ]
    return torch.cat(parts)


def scored(members: list[Network], cells: torch.Tensor) -> Scored:
    return Scored(np.asarray(mean_score(members, cells).numpy(), np.float64))


@dataclass(frozen=True, eq=False)
class Rendered:
    """Images as features of their cells, with their plausibility and how much of each cell is implausible."""

    cells: NDArray[np.float32]  # (images, features, 12, 12)
    truth: Floats  # (images,)
    cover: NDArray[np.float32]  # (images, 12, 12)


def rendered(requests: list[Request], policies: list[Policy], seed: list[int], encoder: Encoder) -> Rendered:
    """Paint request i by policy i, and encode, some images at a time."""
    edges = np.linspace(0, world.SIZE, CELLS + 1).round().astype(int)[:-1]
    vectors, truth, cover = list[NDArray[np.float32]](), list[float](), list[NDArray[np.float64]]()
    for start in range(0, len(requests), 100):
        pictures = [
            paint(requests[n], policies[n], size=world.SIZE, rng=np.random.default_rng([*seed, n]))
            for n in range(start, min(start + 100, len(requests)))
        ]
        vectors.append(encoder.encode([picture.pixels for picture in pictures]))
        for picture in pictures:
            truth.append(picture.truth.plausibility)
            rows = np.add.reduceat(picture.truth.implausible.astype(float), edges, axis=0)
            cover.append(np.add.reduceat(rows, edges, axis=1) / (world.SIZE / CELLS) ** 2)
    cells = np.concatenate(vectors).reshape(-1, CHANNELS, CELLS, CELLS)
    return Rendered(cells, np.array(truth), np.array(cover, np.float32))


def static_images(count: int, seed: list[int], encoder: Encoder) -> Rendered:
    requests = [r for r in draw_requests(count, np.random.default_rng(seed)) for _ in GENERATORS]
    return rendered(requests, list(GENERATORS * count), seed, encoder)


def attack_images(seed: list[int], encoder: Encoder) -> Rendered:
    requests, policies = world.attack_plan(seed)
    return rendered(requests, policies, seed, encoder)


def render_world(seed: int, file: Path) -> None:
    """Render all images of a world, and write their features on AXES principal axes of the static ones."""
    encoder = load_encoder("efficientnet-lite0-grid")
    parts = {"train": static_images(world.TRAIN, [seed, 1], encoder)}
    each = torch.from_numpy(parts["train"].cells[::2]).flatten(2).transpose(1, 2).reshape(-1, CHANNELS)
    mean = each.mean(0)
    values, vectors = torch.linalg.eigh((each - mean).T @ (each - mean) / len(each))
    axes = (vectors[:, -AXES:] / values[-AXES:].sqrt()).numpy()
    parts["test"] = static_images(world.TEST, [seed, 2], encoder)
    people = [(number, person) for number in range(1, world.ROUNDS + 1) for person in range(world.PEOPLE)]
    attacked = [attack_images([seed, 4, *who], encoder) for who in people]
    parts["attack"] = Rendered(
        *(np.concatenate([getattr(part, name) for part in attacked]) for name in ("cells", "truth", "cover"))
    )
    columns = dict[str, NDArray[np.generic]]()
    for name, images in parts.items():
        centred = images.cells - mean.numpy()[:, None, None]
        columns[f"{name}_cells"] = np.einsum("nchw,cd->ndhw", centred, axes, optimize=True).astype(np.float16)
        columns[f"{name}_truth"], columns[f"{name}_cover"] = images.truth, images.cover
    np.savez(file, **columns)  # type: ignore[arg-type]  # also takes a bool by name


@dataclass(frozen=True, eq=False)
class World:
    """Everything about one world but the models."""

    seed: int
    static: Static
    cells: torch.Tensor
    """Of all attackers' images, and of the static test set after them."""
    pools: list[list[Pairs]]
    """Round, attacker -> pairs of their images, which are named by their numbers."""
    test: Pairs


def read_world(seed: int, cache: Path) -> World:
    """The world of a seed; what was rendered before is read."""
    file = cache / f"{seed}.npz"
    if not file.is_file():
        render_world(seed, file)
    stored = np.load(file)
    cells = {
        name: torch.from_numpy(stored[f"{name}_cells"][:, -AXES:]).float() for name in ("train", "attack", "test")
    }
    noise = np.random.default_rng([seed, 3]).normal(0, world.RATING_NOISE, len(stored["train_truth"]))
    perceived = np.random.default_rng([seed, 9]).random(stored["train_cover"].shape) >= MISSED
    marks = (stored["train_cover"] > MARKED) & perceived
    static = Static(
        cells["train"],
        torch.from_numpy((stored["train_truth"] + noise).astype(np.float32)),
        torch.from_numpy(marks.astype(np.float32)),
    )
    truth, each = stored["attack_truth"], world.PROMPTS * world.IMAGES
    pools = [
        [
            pairs_of(numbered(truth[start : start + each], start), world.IMAGES, person)
            for person, start in enumerate(range(first, first + world.PEOPLE * each, each))
        ]
        for first in range(0, len(truth), world.PEOPLE * each)
    ]
    test = pairs_of(numbered(stored["test_truth"], len(truth)), len(GENERATORS), 0)
    return World(seed, static, torch.cat([cells["attack"], cells["test"]]), pools, test)


def numbered(truth: Floats, start: int) -> Images:
    """Images by their numbers."""
    return Images(np.arange(start, start + len(truth), dtype=np.float32)[:, None], truth)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The models of a world, the first and those of its rounds; the control; and the rounds."""

    models: list[Scored]
    control: Scored
    rounds: list[Round]


def play_world(own: World) -> Outcome:
    """Train, and play each round against the model of the round before."""
    torch.manual_seed(own.seed)
    starts = [Network() for _ in range(MEMBERS)]
    first = members = [train(start, own.static, None, None, number) for number, start in enumerate(starts)]
    anchor = mean_score(first, own.static.cells).float()

    def retrained(parents: list[Network], pairs: Pairs) -> list[Network]:
        both = [own.cells[torch.from_numpy(side[:, 0].astype(np.int64))] for side in (pairs.better, pairs.worse)]
        return [
            train(copy.deepcopy(parent), own.static, (both[0], both[1]), anchor, number)
            for number, parent in enumerate(parents)
        ]

    models, rounds = [scored(first, own.cells)], list[Round]()
    for number, pools in enumerate(own.pools, 1):
        rounds.append(world.played(models[-1], pools, np.random.default_rng([own.seed, 5, number])))
        members = retrained(members, joined([each.part(held_out=False) for each in rounds]))
        models.append(scored(members, own.cells))
    control = retrained(first, joined([each.random for each in rounds]))
    return Outcome(models, scored(control, own.cells), rounds)


def read_outcome(own: World, cache: Path) -> Outcome:
    """The same; models that were trained before are read, as the scores of all images."""
    file = cache / f"{own.seed}-scores.npy"
    if not file.is_file():
        outcome = play_world(own)
        np.save(file, np.array([model.values for model in [*outcome.models, outcome.control]]))
        return outcome
    *models, control = (Scored(values) for values in np.load(file))
    rounds = [
        world.played(models[number], pools, np.random.default_rng([own.seed, 5, number + 1]))
        for number, pools in enumerate(own.pools)
    ]
    return Outcome(models, control, rounds)


def report_worlds(worlds: list[tuple[World, Outcome]]) -> None:
    """Print both changes in every world, their means over worlds, and how often the goal was reached."""
    print("| seed | held-out attacks | their error, first | last | reduction | static error, first | change |")
    print("|---|---|---|---|---|---|---|")
    changes, right, total = list[tuple[float, float]](), 0, 0
    for own, outcome in worlds:
        attacks = joined([each.part(held_out=True) for each in outcome.rounds])
        errors = [float(attacks.wrong(model).mean()) for model in (outcome.models[0], outcome.models[-1])]
        static = [float(world.static_errors(own.test, m).mean()) for m in (outcome.models[0], outcome.models[-1])]
        changes.append((1 - errors[1] / errors[0], static[1] - static[0]))
        print(
            f"| {own.seed} | {len(attacks.gap)} | {errors[0]:.3f} | {errors[1]:.3f} | {changes[-1][0]:.3f} "
            f"| {static[0]:.3f} | {changes[-1][1]:+.4f} |"
        )
        right += sum(int((each.verified & (each.claims.gap > 0)).sum()) for each in outcome.rounds)
        total += sum(int(each.verified.sum()) for each in outcome.rounds)
    for name, values in zip(("Reduction", "Static change"), np.array(changes).T, strict=True):
        half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
        print(f"\n{name}, mean over worlds: {values.mean():.4f} ± {half:.4f}")
    reached = sum(less >= 0.3 and more <= 0.02 for less, more in changes)
    print(f"\nWorlds that reach 30 % within two points: {reached} of {len(changes)}")
    low, high = (float(end) for end in wilson(right, total))
    print(f"\nPrecision of verified claims: {right / total:.4f} ({low:.4f} to {high:.4f}), {total:,} claims")


def main() -> None:
    """Play all worlds and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=201)
    parser.add_argument("--worlds", type=int, default=10)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "beholder-rounds-grid")
    options = parser.parse_args()
    began = time.process_time()
    options.cache.mkdir(parents=True, exist_ok=True)
    keep_freed_memory()
    worlds = list[tuple[World, Outcome]]()
    for seed in range(options.seed, options.seed + options.worlds):
        own = read_world(seed, options.cache)
        worlds.append((own, read_outcome(own, options.cache)))
        if len(worlds) == 1:
            outcome, rng = worlds[0][1], np.random.default_rng([seed, 6])
            world.report(outcome.models, outcome.control, outcome.rounds, own.test, rng)
            print(flush=True)
    if len(worlds) > 1:
        report_worlds(worlds)
    print(f"\n{time.process_time() - began:.0f} s of CPU time; what was rendered before is not rendered again.")


if __name__ == "__main__":
    main()
