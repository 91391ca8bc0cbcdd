"""What a study costs at any size: a discrete-event simulation of the server, arithmetic for the other stages.

    python benchmarks/scale_model.py [--seconds 20] [--seed 1]

All figures follow from the unit costs below, measured on two cores, with the page they are from; sizes and prices
are assumed. The simulation is first held against the load tests themselves: clients that answer at once, on two
cores that server, database and client share.
"""

import argparse
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import simpy

ANSWERS_A_RATER = 60
PACE_SECONDS = 4.0
HOURS_A_DAY = 12.0
PEAK = 2.5
"""How many more raters there are in the busiest minutes than on average over those hours."""

IMAGES_AN_ANSWER = 2.0
RATINGS_AN_IMAGE = 10.0
P99_MS = 100.0
CORE_HOUR_DOLLARS = 0.04
GIGABYTE_MONTH_DOLLARS = 0.023
ANSWER_DOLLARS = 12.0 * PACE_SECONDS / 3600


@dataclass(frozen=True)
class UnitCosts:
    """Seconds of processor time, of a flush by the clock, measured; sizes in bytes, assumed."""

    answer_server: float = 0.0022
    """an answer in the server (processes.md)"""
    answer_database: float = 0.0006
    """the same in PostgreSQL (processes.md)"""
    answer_client: float = 0.0001
    """the same in the client of the load test, which shares the cores (processes.md)"""
    image_server: float = 0.0015
    """an image that the server itself sends (processes.md)"""
    image_redirect: float = 0.0015
    """an image that the browser is sent elsewhere for, the session being looked up all the same (processes.md)"""
    image_database: float = 0.00025
    """either of them in PostgreSQL (processes.md)"""
    flush: float = 0.0079
    """a flush of the database to disk, shared by all transactions that wait for one (processes.md)"""
    encode: float = 0.022
    """features of an image, efficientnet-lite0 at 224 pixels (engine.md)"""
    consolidate: float = 13e-6
    """consolidating and ranking one rating, of 20 million (large-studies.md)"""
    served_image: float = 60e3
    original: float = 500e3
    features: float = 5.1e3
    answer: float = 220.0


@dataclass(frozen=True)
class Site:
    """The machines of a server."""

    hosts: int
    cores: int
    database_cores: int
    is_shared: bool = False
    """whether server, database and client are on the same cores"""
    offloads: bool = False
    """whether browsers fetch images from object storage"""


@dataclass
class Measured:
    """What a simulation gave."""

    answers: int
    seconds: float
    p50_ms: float
    p99_ms: float
    server_use: float
    database_use: float

    @property
    def rate(self) -> float:
        return self.answers / self.seconds


class Flushes:
    """Group commit: a flush takes its time, and all that came before it began are done at its end."""

    def __init__(self, environment: simpy.Environment, seconds: float) -> None:
        self._environment, self._seconds = environment, seconds
        self._next: simpy.Event | None = None
        self._is_busy = False

    def wait(self) -> simpy.Event:
        if self._next is None:
            self._next = self._environment.event()
            if not self._is_busy:
                self._environment.process(self._flush())
        return self._next

    def _flush(self) -> Generator[simpy.Event, Any, None]:
        self._is_busy = True
        while self._next is not None:
            waiting, self._next = self._next, None
            yield self._environment.timeout(self._seconds)
            waiting.succeed()
        self._is_busy = False


class Simulation:
    """Raters, hosts and a database in one simulated time."""

    def __init__(self, site: Site, costs: UnitCosts, seed: int) -> None:
        self.environment = simpy.Environment()
        self._costs, self._site, self._rng = costs, site, np.random.default_rng(seed)
        self._hosts = [simpy.Resource(self.environment, site.cores) for _ in range(site.hosts)]
        own = simpy.Resource(self.environment, site.database_cores)
        self._database = self._hosts[0] if site.is_shared else own
        self._flushes = Flushes(self.environment, costs.flush)
        self._spent = {"server": 0.0, "database": 0.0}
        self.waited: list[float] = []

    def run(self, raters: int, seconds: float, *, at_once: bool) -> Measured:
        """Let raters answer for so long; at once as in a load test, or at a human pace."""
        for _ in range(raters):
            self.environment.process(self._rater(at_once=at_once))
        warm = seconds / 4
        self.environment.run(until=warm)
        self.waited.clear()
        self._spent = dict.fromkeys(self._spent, 0.0)
        self.environment.run(until=warm + seconds)
        answers = np.asarray(self.waited)
        p50, p99 = np.percentile(answers, [50, 99]) * 1e3 if answers.size else (math.nan, math.nan)
        cores = self._site.hosts * self._site.cores
        if self._site.is_shared:
            server = database = sum(self._spent.values()) / (seconds * cores)
        else:
            server = self._spent["server"] / (seconds * cores)
            database = self._spent["database"] / (seconds * self._site.database_cores)
        return Measured(answers.size, seconds, float(p50), float(p99), server, database)

    def _rater(self, *, at_once: bool) -> Generator[simpy.Event, Any, None]:
        costs, environment = self._costs, self.environment
        image = costs.image_redirect if self._site.offloads else costs.image_server
        if not at_once:
            yield environment.timeout(self._rng.uniform(0, PACE_SECONDS))
        while True:
            host = self._hosts[int(self._rng.integers(len(self._hosts)))]
            if not at_once:
                for _ in range(int(IMAGES_AN_ANSWER)):
                    yield from self._work(host, "server", image)
                    yield from self._work(self._database, "database", costs.image_database)
                yield environment.timeout(float(self._rng.lognormal(np.log(PACE_SECONDS), 0.5)))
            elif self._site.is_shared:
                yield from self._work(host, "server", costs.answer_client)
            began = environment.now
            yield from self._work(host, "server", costs.answer_server)
            yield from self._work(self._database, "database", costs.answer_database)
            yield self._flushes.wait()
            self.waited.append(environment.now - began)

    def _work(self, resource: simpy.Resource, role: str, seconds: float) -> Generator[simpy.Event, Any, None]:
        taken = float(self._rng.exponential(seconds))
        with resource.request() as turn:
            yield turn
            yield self.environment.timeout(taken)
        self._spent[role] += taken


def concurrent(raters_a_day: float) -> int:
    """Raters at once in the busiest minutes."""
    session_hours = ANSWERS_A_RATER * PACE_SECONDS * math.exp(0.5**2 / 2) / 3600
    return max(1, round(raters_a_day * session_hours / HOURS_A_DAY * PEAK))


def smallest_site(raters: int, costs: UnitCosts, seconds: float, seed: int) -> tuple[Site, Measured] | None:
    """The fewest cores, of hosts with four and of a database with up to 64, that keep the 99th percentile."""
    load = raters / (PACE_SECONDS * math.exp(0.5**2 / 2))
    server = load * (costs.answer_server + IMAGES_AN_ANSWER * costs.image_redirect)
    database = load * (costs.answer_database + IMAGES_AN_ANSWER * costs.image_database)
    for spare in (1.3, 1.6, 2.0, 3.0):
        hosts = max(1, math.ceil(server * spare / 4))
        site = Site(hosts, 4, max(2, math.ceil(database * spare)), offloads=True)
        if site.database_cores > 64:
            return None
        outcome = Simulation(site, costs, seed).run(raters, seconds, at_once=False)
        if outcome.p99_ms < P99_MS:
            return site, outcome
    return None


def held_against_load_tests(costs: UnitCosts, seconds: float, seed: int) -> None:
    print("| load test, two shared cores | answers simulated | p50/p99 ms |\n|---|---|---|")
    for clients in (32, 64):
        site = Site(1, 2, 2, is_shared=True)
        outcome = Simulation(site, costs, seed).run(clients, seconds, at_once=True)
        times = f"{outcome.p50_ms:.0f} / {outcome.p99_ms:.0f}"
        print(f"| PostgreSQL, {clients} clients at once | {outcome.rate:.0f}/s | {times} |")


def server_by_raters(costs: UnitCosts, seconds: float, seed: int, largest: int) -> None:
    print("\n| raters a day | at once, peak | answers/s | hosts × cores | database cores | p50/p99 ms ", end="")
    print("| use of server / database | dollars a day |\n|---|---|---|---|---|---|---|---|")
    for exponent in range(3, largest + 1):
        raters = concurrent(10.0**exponent)
        length = min(seconds, 4e5 / raters)
        fitting = smallest_site(raters, costs, length, seed)
        if fitting is None:
            print(f"| 10^{exponent} | {raters:,} | – | – | more than 64 | – | – | – |")
            continue
        site, outcome = fitting
        dollars = (site.hosts * site.cores + site.database_cores) * 24 * CORE_HOUR_DOLLARS
        print(
            f"| 10^{exponent} | {raters:,} | {outcome.rate:,.0f} | {site.hosts} × {site.cores} "
            f"| {site.database_cores} | {outcome.p50_ms:.1f} / {outcome.p99_ms:.1f} "
            f"| {100 * outcome.server_use:.0f} / {100 * outcome.database_use:.0f} % | {dollars:,.2f} |"
        )


def stages_by_images(costs: UnitCosts) -> None:
    print("\n| images | features, one core | cores for a day | ratings | consolidate and rank, one core ", end="")
    print("| pay of raters | computing | storage a month | bottleneck |\n|---|---|---|---|---|---|---|---|---|")
    for exponent in range(4, 9):
        images = 10.0**exponent
        encode, ratings = images * costs.encode, images * RATINGS_AN_IMAGE
        tables = ratings * costs.consolidate
        pay, computing = ratings * ANSWER_DOLLARS, (encode + tables) / 3600 * CORE_HOUR_DOLLARS
        size = images * (costs.original + costs.served_image + costs.features) + ratings * costs.answer
        storage = size / 1e9 * GIGABYTE_MONTH_DOLLARS
        person_days = ratings * PACE_SECONDS / 3600 / 8
        print(
            f"| 10^{exponent} | {span(encode)} | {max(1, math.ceil(encode / 86_400)):,} | {ratings:,.0f} "
            f"| {span(tables)} | ${pay:,.0f} | ${computing:,.2f} | ${storage:,.2f} "
            f"| people: {person_days:,.0f} days of eight hours |"
        )


def span(seconds: float) -> str:
    """A time in words."""
    for unit, length in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} s"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=6, help="number of raters a day, as a power of ten")
    for name, default in vars(UnitCosts()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default)
    options = parser.parse_args(arguments)
    costs = replace(UnitCosts(), **{name: getattr(options, name) for name in vars(UnitCosts())})
    held_against_load_tests(costs, options.seconds, options.seed)
    server_by_raters(costs, options.seconds, options.seed, options.largest)
    stages_by_images(costs)


if __name__ == "__main__":
    main()
