"""One command from prompts to board: what it does, skips and continues; and what it refuses before any work."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.api.benchmark.conftest import study_of, write_sources

from beholder.api.benchmark.bench import bench, bench_steps
from beholder.api.benchmark.demo import DemoBenchmark, prepare_demo_benchmark
from beholder.api.benchmark.plan import plan_bench
from beholder.errors import StudyError
from beholder.study.benchmark import Benchmark, TrainedModel
from beholder.study.study import dump_study
from beholder.tables.store import TRUTH_ROOM, Store

MADE = ["curate", "generate", "new"]
ASKED = ["design", "collect", "consolidate", "rank"]
SHOWN = ["measure", "board", "report", "site"]
ALL = [*MADE, *ASKED, *SHOWN]


def test_one_command_leads_from_prompts_to_a_board(locked: Path) -> None:
    store = Store(locked)
    assert store.read("images").group_by("generator").len().sort("generator").rows() == [("a", 8), ("b", 8)]
    board = store.read("board").filter(family="all")
    assert set(board["measure"]) == {"preference", "sharpness"}
    assert (locked / "report.html").is_file()
    assert (locked / "site" / "index.html").is_file()
    assert (locked / "study.lock").is_file()


def test_a_second_run_does_nothing_and_writes_the_same_lock(copied: Path) -> None:
    lock = (copied / "study.lock").read_bytes()
    outcome = bench(copied)  # the simulated answers are there, and are read
    assert [stage.stage for stage in outcome.stages] == ALL
    assert all(stage.skipped for stage in outcome.stages)
    assert (copied / "study.lock").read_bytes() == lock
    assert outcome["board"].skipped
    assert "lock: " in repr(outcome)


def test_a_run_that_was_stopped_continues(locked: Path) -> None:
    """It was stopped after collecting; that it ends as a run in one go does is seen where it is rebuilt."""
    assert [*MADE, "design", "collect"] == (locked.parent / "skipped.txt").read_text().split()


def test_without_answers_the_board_has_automatic_measures(tmp_path: Path) -> None:
    folder = write_sources(tmp_path / "unasked", study_of(questions=()))
    outcome = bench(folder)
    assert [stage.stage for stage in outcome.stages] == [*MADE, *SHOWN]
    assert set(Store(folder).read("board").filter(family="all")["measure"]) == {"sharpness"}
    assert not Store(folder).has("trials")


def test_all_faults_are_named_before_any_work(tmp_path: Path) -> None:
    wrong = Benchmark(scorers=("sharpnes",), models=(TrainedModel(recipe="no-such-recipe"),))
    folder = write_sources(tmp_path / "wrong", study_of(benchmark=wrong, questions=()))
    (folder / "curate.toml").unlink()
    with pytest.raises(StudyError) as raised:
        bench(folder, simulate=3)
    faults = "\n".join(raised.value.faults)
    assert "no prompts to generate from" in faults
    assert "no question that simulated raters could answer" in faults
    assert "no-such-recipe" in faults
    assert "sharpnes" in faults
    assert "sharpness" in faults
    assert not (folder / "tables").exists()


def test_a_study_without_images_or_generators_is_refused(tmp_path: Path) -> None:
    folder = write_sources(tmp_path / "bare", study_of(generators=()))
    with pytest.raises(StudyError, match="no generator that could make some"):
        bench(folder)


def test_models_have_names_of_their_own() -> None:
    with pytest.raises(ValueError, match="used more than once: tiny-two-tower"):
        Benchmark(models=(TrainedModel(recipe="tiny-two-tower"), TrainedModel(recipe="tiny-two-tower")))


def test_a_study_file_without_questions_is_a_benchmark_only() -> None:
    with pytest.raises(ValueError, match="at least one question is needed"):
        study_of(questions=(), benchmark=None)
    assert "questions" not in dump_study(study_of(questions=()))


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five painters × 12 prompts, three scorers, one of them trained on the answers of eight simulated raters."""
    folder = tmp_path_factory.mktemp("demo") / "benchmark"
    small = DemoBenchmark(prompts=12, raters=8, bad=1, trials=12, size=32, epochs=1)
    prepare_demo_benchmark(folder, small)
    plan = plan_bench(folder, raters=small.raters, bad=small.bad)
    for step in bench_steps(folder, replace(plan, stages=plan.stages - {"report", "site"})):
        step()
    return folder


class TestTheDemo:
    def test_the_board_has_people_scorers_and_the_trained_model(self, demo: Path) -> None:
        board = Store(demo).read("board").filter(family="all")
        assert dict(board.select("measure", "source").iter_rows()) == {
            "preference": "people",
            "quality": "people",
            "sharpness": "scorer",
            "colourfulness": "scorer",
            "tiny-two-tower/out-of-fold": "model",
        }
        assert board["entry"].n_unique() == 5
        predictions = Store(demo).read("predictions")
        assert predictions["held_out"].all()
        assert predictions.height == 60  # every image is held out once

    def test_simulated_raters_see_what_the_painters_painted(self, demo: Path) -> None:
        truth = Store(demo, TRUTH_ROOM).read("scores").filter(aspect="overall")
        images = Store(demo).read("images").select("image", "generator")
        means = truth.join(images, on="image").group_by("generator").agg(pl.col("score").mean()).sort("generator")
        assert means["score"].to_list() == sorted(means["score"], reverse=True)  # aurora, the best, to ember
        assert means.height == 5

    def test_the_folder_of_another_study_is_refused(self, demo: Path) -> None:
        prepare_demo_benchmark(demo, DemoBenchmark())  # it is there already: nothing changes
        with pytest.raises(StudyError, match="beholder-demo-benchmark"):
            prepare_demo_benchmark(demo, DemoBenchmark(seed=1))
