"""Bootstrap replicates of α by one process and by two workers of Ray: equal bytes, and what each takes.

python benchmarks/replicates.py ANSWERS    # such as 1000000: 250 per rater, 20 per image, at random
"""

import pickle
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from beholder.consolidate.agreement import FEWEST_REPLICATES, MOST_REPLICATES, RESAMPLED_ANSWERS
from beholder.engines.engine import open_engine
from beholder.stats.agreement.answers import long_answers
from beholder.stats.agreement.krippendorff import krippendorff_alpha, squared_distances
from beholder.stats.agreement.krippendorff_coincidences import alpha_of_coincidences
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import rater_weights

PER_RATER, PER_IMAGE, POINTS = 250, 20, 5


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    answers, rng = int(sys.argv[1]), np.random.default_rng(0)
    raters, images = answers // PER_RATER, answers // PER_IMAGE
    who = np.repeat(np.arange(raters), PER_RATER)
    what = np.concatenate([rng.choice(images, PER_RATER, replace=False) for _ in range(raters)])
    values = rng.integers(1, POINTS + 1, len(who)).astype(np.float64)
    replicates = int(np.clip(RESAMPLED_ANSWERS // len(who), FEWEST_REPLICATES, MOST_REPLICATES))
    weights = rater_weights(np.zeros(raters, np.int64), replicates, rng)
    alpha = partial(krippendorff_alpha, who, what, values, weights, scale="ordinal")
    here = _timed("one process", alpha)
    began = time.monotonic()
    with open_engine("ray", workers=2) as engine:
        list(engine.map(abs, range(8)))  # until the workers run
        print(f"Ray starts in {time.monotonic() - began:.1f} s")
        by_ray = _timed("two workers", partial(alpha, each=engine.map))
    print(f"{len(who):,} answers, {replicates} replicates: equal to the byte: {here == by_ray}")
    points = np.arange(1.0, POINTS + 1)
    distances = partial(squared_distances, values=points, scale="ordinal")
    sent = alpha_of_coincidences(
        long_answers(who, what, values), np.searchsorted(points, values), POINTS, distances
    )
    print(f"sent once: {len(pickle.dumps(sent.of_block)) / 1e6:.0f} MB; replicates of a task: {sent.size}")


def _timed(name: str, estimate: Callable[[], Estimate]) -> Estimate:
    began, spent = time.monotonic(), time.process_time()
    result = estimate()
    print(f"{name}: {time.monotonic() - began:.1f} s, {time.process_time() - spent:.1f} s of CPU in this process")
    return result


if __name__ == "__main__":
    main()
