"""What an answer costs the server on PostgreSQL, without HTTP: statements, and processor time of this process.

python benchmarks/answer_cost.py [--sessions 6] [--seconds 1.0]

``--seconds`` is the time that each answer claims; answers follow each other immediately, so that a claim of a
second is recorded as implausible. Raters come in by a server; their answers are then accepted in this process, one
by one.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from load import reset
from served import Json, Wire, answer_body, come_in, fill, make_folder, postgres, serving
from sqlalchemy import event

from beholder.collect.routes.rater import post_answer
from beholder.collect.server.service import Service
from beholder.collect.session.messages import Answer
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

TRIALS = 60


async def come_in_all(port: int, sessions: int) -> list[tuple[str, Json]]:
    """The cookie and the first trial of each session."""
    wires = [Wire(port) for _ in range(sessions)]
    states = [await come_in(wire, "pair") for wire in wires]
    return [(wire.cookie, state) for wire, state in zip(wires, states, strict=True)]


def answer_all(service: Service, sessions: list[tuple[str, Json]], seconds: float) -> int:
    """Answer all trials of the sessions; return how many there were."""
    answers = 0
    for cookie, first in sessions:
        state = first
        while state["step"] == "trial":
            body = Answer.model_validate(answer_body(state["trial"], seconds=seconds))
            state = post_answer(body, service, cookie)["state"]
            answers += 1
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sessions", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-answer-cost-") as temporary:
        Path(temporary).chmod(0o755)
        question = PairQuestion(name="pair", design=Design(raters=2 * options.sessions + 4, trials=TRIALS))
        folder = make_folder(Path(temporary) / "study", question)
        with postgres(Path(temporary) / "pg") as (url, _):
            reset(url)
            fill(folder, url)
            with serving(folder, url) as server:
                sessions = asyncio.run(come_in_all(server.port, 2 * options.sessions))
            service = Service(folder, url)
            answer_all(service, sessions[: options.sessions], options.seconds)  # compiles and prepares
            statements = 0

            @event.listens_for(service.database.engine, "before_cursor_execute")
            def count(*_: object) -> None:
                nonlocal statements
                statements += 1

            began = time.process_time()
            answers = answer_all(service, sessions[options.sessions :], options.seconds)
            spent = time.process_time() - began
            service.database.engine.dispose()
    print(f"{answers} answers: {statements / answers:.2f} statements and {1e3 * spent / answers:.2f} ms each")


if __name__ == "__main__":
    main()
