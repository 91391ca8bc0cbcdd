"""Scores in Python: each image for its prompt, whatever the batch; what they mean; what cannot be scored."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
import transformers
from PIL import Image

import beholder
from beholder.errors import ImageError, TableError, UserError
from beholder.images.decode import decode
from beholder.models.preference.two_tower import build, configure
from beholder.models.trainable import Batch
from beholder.models.weights.checkpoint import Record, save_checkpoint
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.scorer import by_pixels
from beholder.stats.prediction.calibration import preference_chance

PROMPTS = ["a red cat", "two dogs", "the sea at night"]


def plain(folder: Path, files: list[Path], prompts: list[str]) -> list[float]:
    """PickScore by transformers alone, one image at a time."""
    model = transformers.CLIPModel.from_pretrained(folder).eval()
    steps = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}, "resample": 3}
    processor = transformers.CLIPImageProcessorPil(**steps)
    tokens = {"a red cat": [320, 736, 2368], "two dogs": [1237, 3255], "the sea at night": [518, 2102, 536, 930]}
    logits = []
    for file, prompt in zip(files, prompts, strict=True):
        pixels = processor(decode(file.read_bytes()), return_tensors="pt")["pixel_values"]
        ids = torch.tensor([[49406, *tokens[prompt], 49407]])
        with torch.inference_mode():
            logits.append(float(model(input_ids=ids, pixel_values=pixels).logits_per_image))
    return logits


class TestScores:
    def test_they_are_those_of_the_network_one_by_one(self, small_pickscore: Path, painted: Path) -> None:
        files = sorted(painted.iterdir())
        prompts = [PROMPTS[place % 3] for place in range(len(files))]
        scored = beholder.score(images=painted, prompts=prompts, scorer="pickscore", weights=small_pickscore)
        assert scored.names == tuple(map(str, files))
        expected = plain(small_pickscore, files, prompts)
        assert scored.scores == pytest.approx(expected, rel=2e-3)  # their resize rounds otherwise in some pixels
        assert scored.scorer.startswith("pickscore@")

    def test_neither_batches_nor_order_nor_threads_matter(self, small_pickscore: Path, painted: Path) -> None:
        files = sorted(painted.iterdir())[:21]
        prompts = [PROMPTS[place % 3] for place in range(21)]
        scored = beholder.score(images=files, prompts=prompts, scorer="pickscore", weights=small_pickscore)
        turned = beholder.score(
            images=files[::-1], prompts=prompts[::-1], scorer="pickscore", weights=small_pickscore, workers=5
        )
        assert turned.scores[::-1] == pytest.approx(scored.scores, rel=1e-5)

    def test_images_in_memory_and_one_prompt_for_all(self, small_pickscore: Path, painted: Path) -> None:
        files = sorted(painted.iterdir())[:2]
        opened = Image.open(files[0])
        mixed = beholder.score(
            images=[opened, files[1], np.asarray(decode(files[0].read_bytes()))],
            prompts="two dogs",
            scorer="pickscore",
            weights=small_pickscore,
        )
        assert mixed.names == ("image 1", str(files[1]), "image 3")
        assert mixed.scores[0] == pytest.approx(mixed.scores[2], rel=1e-5)

    def test_prompts_by_name(self, small_pickscore: Path, painted: Path) -> None:
        files = sorted(painted.iterdir())[:2]
        by_name = {"00.png": PROMPTS[0], "01.png": PROMPTS[1]}
        scored = beholder.score(images=files, prompts=by_name, scorer="pickscore", weights=small_pickscore)
        listed = beholder.score(images=files, prompts=PROMPTS[:2], scorer="pickscore", weights=small_pickscore)
        assert scored.scores.tolist() == listed.scores.tolist()
        with pytest.raises(UserError, match=r"no prompt for .*01\.png"):
            beholder.score(images=files, prompts={"00.png": "a"}, scorer="pickscore", weights=small_pickscore)

    def test_without_a_network(self, painted: Path) -> None:
        scored = beholder.score(images=painted, scorer="brightness")
        assert scored.scores.shape == (40,)
        assert scored.meaning is None


class TestLoading:
    def test_once_until_the_files_change(self, small_pickscore: Path, tmp_path: Path) -> None:
        for file in small_pickscore.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        first = load_scorer("pickscore", {"pickscore": str(tmp_path)})
        assert load_scorer("pickscore", {"pickscore": str(tmp_path)}) is first
        torch.manual_seed(9)
        config = transformers.CLIPConfig.from_pretrained(tmp_path)
        transformers.CLIPModel(config).save_pretrained(tmp_path)
        second = load_scorer("pickscore", {"pickscore": str(tmp_path)})
        assert second.identity != first.identity

    def test_the_package_itself_loads_nothing_heavy(self) -> None:
        code = "import sys, beholder; print(sorted({'torch', 'polars', 'PIL'} & set(sys.modules)))"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == "[]"
        with pytest.raises(AttributeError, match="no attribute 'scores'"):
            beholder.scores  # type: ignore[attr-defined] # noqa: B018


class Several:
    """A trained model by hand, of two aspects: brightness, and brightness times the length of the prompt."""

    def __init__(self) -> None:
        self.module = torch.nn.Linear(1, 1)

    def prepare(self, image: Image.Image, rng: None) -> np.ndarray:
        assert rng is None
        return np.array([np.asarray(image).mean() / 255], np.float32)

    def predict(self, batch: Batch) -> dict[str, torch.Tensor]:
        lengths = torch.tensor([len(batch.prompts[place]) for place in batch.prompt_of])
        return {"quality": batch.pixels[:, 0], "alignment": batch.pixels[:, 0] * lengths}


class TestTrained:
    @pytest.fixture
    def trained(self, tmp_path: Path) -> Path:
        torch.manual_seed(0)
        sizes = {"image_size": 16, "patch_size": 8, "image_width": 16, "text_width": 16}
        model = build(configure({"sizes": {**sizes}}, PROMPTS, ["overall"]), fresh=True)
        save_checkpoint(tmp_path / "mine", model, Record("two-tower", model.config, ("overall",)))
        return tmp_path / "mine"

    def test_by_its_folder(self, trained: Path, painted: Path) -> None:
        scored = beholder.score(images=painted, prompts=PROMPTS[0], scorer=str(trained))
        named = beholder.score(images=painted, prompts=PROMPTS[0], scorer=f"{trained}:overall")
        assert scored.scorer.startswith("mine@")
        assert scored.scores.tolist() == named.scores.tolist()
        assert np.ptp(scored.scores) > 0

    def test_an_aspect_it_does_not_judge(self, trained: Path, painted: Path) -> None:
        with pytest.raises(UserError, match=r"aspect 'taste' is not known; name one of: .*mine:overall"):
            beholder.score(images=painted, prompts="a", scorer=f"{trained}:taste")

    def test_a_model_of_several_aspects(
        self, painted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        record = Record("metric-transformer", {}, ("quality", "alignment"), {"quality": (3.0, 0.5)})
        monkeypatch.setattr("beholder.scorers.trained.model.load_checkpoint", lambda _: (Several(), record))
        (tmp_path / "model.json").write_text("{}")
        (tmp_path / "model.safetensors").write_text("")
        with pytest.raises(UserError, match=r"judges several aspects; name one of: .*:quality, .*:alignment"):
            beholder.score(images=painted, prompts="a", scorer=str(tmp_path))
        files = sorted(painted.iterdir())[:3]
        quality = beholder.score(images=files, prompts=["a", "bb", "a"], scorer=f"{tmp_path}:quality")
        alignment = beholder.score(images=files, prompts=["a", "bb", "a"], scorer=f"{tmp_path}:alignment")
        bright = [np.asarray(decode(file.read_bytes())).mean() / 255 for file in files]
        assert quality.scores == pytest.approx(3 + 0.5 * np.array(bright))  # on the scale of the labels
        assert alignment.scores == pytest.approx(np.array(bright) * [1, 2, 1])
        assert quality.meaning is None

    def test_no_folder(self, painted: Path) -> None:
        with pytest.raises(UserError, match="or a folder with a trained model"):
            beholder.score(images=painted, prompts="a", scorer="nowhere")


class TestMeaning:
    def test_percentiles_and_chances(self, small_pickscore: Path, painted: Path) -> None:
        files = sorted(painted.iterdir())
        scored = beholder.score(
            images=files[:5],
            prompts="two dogs",
            scorer="pickscore",
            weights=small_pickscore,
            reference=files[5:],
        )
        rest = beholder.score(images=files[5:], prompts="two dogs", scorer="pickscore", weights=small_pickscore)
        meaning = scored.meaning
        assert meaning is not None
        assert meaning.chance is not None
        assert (meaning.reference, meaning.scale, meaning.scale_from) == (35, 1.0, "training")
        for place in range(5):
            below = np.mean(rest.scores < scored.scores[place])
            assert meaning.percentile[place] == pytest.approx(100 * below)
            chance = preference_chance(scored.scores[place] - rest.scores, 1.0).mean()
            assert meaning.chance[place] == pytest.approx(chance)

    def test_a_scorer_not_trained_on_choices_has_no_chances_of_its_own(self, painted: Path) -> None:
        files = sorted(painted.iterdir())
        meaning = beholder.score(images=files[:5], scorer="brightness", reference=files[5:]).meaning
        assert meaning is not None
        assert (meaning.chance, meaning.scale, meaning.scale_from) == (None, None, "")

    def test_choices_calibrate_them(self, painted: Path) -> None:
        files = sorted(painted.iterdir())
        values = beholder.score(images=files, scorer="brightness").scores
        rng = np.random.default_rng(0)
        first, second = rng.integers(0, 40, (2, 600))
        share = rng.binomial(9, preference_chance(values[first] - values[second], 50.0)) / 9
        choices = pl.DataFrame(
            {
                "first": [files[place].name for place in first],
                "second": [str(files[place]) for place in second],
                "share": share,
                "answers": [9] * 600,
            }
        )
        scored = beholder.score(images=files, scorer="brightness", reference=files, choices=choices)
        assert scored.calibration is not None
        assert scored.calibration.scale.low < 50 < scored.calibration.scale.high
        assert scored.calibration.reliability.ece < 0.05
        assert scored.meaning is not None
        assert (scored.meaning.scale, scored.meaning.scale_from) == (scored.calibration.scale.value, "choices")

    def test_the_labels_of_a_study_are_choices(self, painted: Path, tmp_path: Path) -> None:
        rows = [(i, j) for i in range(10) for j in range(10) if i != j]
        labels = pl.DataFrame(
            {
                "image": [f"{painted.name}/{i:02d}" for i, _ in rows] + ["alone"],
                "other": [f"{painted.name}/{j:02d}" for _, j in rows] + [None],
                "value": [0.25 + 0.5 * (i > j) for i, j in rows] + [0.1],
                "answers": [4] * (len(rows) + 1),
            }
        )
        labels.write_parquet(tmp_path / "labels.parquet")
        scored = beholder.score(images=painted, scorer="brightness", choices=tmp_path / "labels.parquet")
        assert scored.calibration is not None
        assert (scored.calibration.pairs, scored.calibration.choices) == (90, 360)
        labels.rename({"value": "x"}).write_parquet(tmp_path / "other.parquet")
        with pytest.raises(TableError, match="the table labels is expected"):
            beholder.score(images=painted, scorer="brightness", choices=tmp_path / "other.parquet")

    def test_choices_that_do_not_fit(self, painted: Path) -> None:
        wrong = pl.DataFrame({"first": ["00.png", "x"], "second": ["01.png", "y"], "share": [0.5, 2.0]})
        with pytest.raises(TableError) as caught:
            beholder.score(images=painted, scorer="brightness", choices=wrong)
        for part in ("'x' is not among those scored", "'y'", "share must be a number from 0 to 1"):
            assert part in str(caught.value)
        with pytest.raises(TableError, match="columns first, second, share are expected; found: a"):
            beholder.score(images=painted, scorer="brightness", choices=pl.DataFrame({"a": []}))


class TestFaults:
    def test_broken_images_are_told_all_at_once_or_skipped(self, small_pickscore: Path, tmp_path: Path) -> None:
        Image.new("RGB", (9, 9)).save(tmp_path / "a.png")
        (tmp_path / "b.png").write_bytes(b"no image")
        Image.new("RGBA", (9, 9), (255, 0, 0, 0)).save(tmp_path / "c.png")
        places = [tmp_path / name for name in ("a.png", "b.png", "c.png")]
        call = {"prompts": "a", "scorer": "pickscore", "weights": small_pickscore}
        with pytest.raises(ImageError, match=r"b\.png: not an image"):
            beholder.score(images=places, **call)  # type: ignore[arg-type]
        scored = beholder.score(images=places, skip_broken=True, **call)  # type: ignore[arg-type]
        assert [Path(name).name for name in scored.names] == ["a.png", "c.png"]
        assert [Path(broken.name).name for broken in scored.broken] == ["b.png"]
        grey = beholder.score(images=Image.new("RGB", (9, 9), "#7f7f7f"), **call)  # type: ignore[arg-type]
        assert scored.scores[1] == pytest.approx(grey.scores[0])  # transparency lies on middle grey
        white = beholder.score(images=Image.new("RGB", (9, 9), "white"), **call)  # type: ignore[arg-type]
        for clear in (tmp_path / "c.png", Image.open(tmp_path / "c.png")):  # a file, and an image in memory
            on_white = beholder.score(images=clear, background="#FFFFFF", **call)  # type: ignore[arg-type]
            assert on_white.scores[0] == pytest.approx(white.scores[0])
        with pytest.raises(UserError, match="background 'white': a colour is expected as #rrggbb"):
            beholder.score(images=places, background="white", **call)  # type: ignore[arg-type]

    def test_numbers_of_prompts(self, small_pickscore: Path, painted: Path) -> None:
        with pytest.raises(UserError, match="2 prompts for 40 images"):
            beholder.score(images=painted, prompts=["a", "b"], scorer="pickscore", weights=small_pickscore)
        with pytest.raises(UserError, match="needs prompts"):
            beholder.score(images=painted, scorer="pickscore", weights=small_pickscore)

    def test_only_by_keyword(self, painted: Path) -> None:
        with pytest.raises(TypeError):
            beholder.score(painted, "a prompt", "brightness")  # type: ignore[call-arg]

    def test_weights_of_a_scorer_without_any(self, painted: Path) -> None:
        with pytest.raises(UserError, match="has no weights"):
            beholder.score(images=painted, scorer="brightness", weights="here")

    def test_a_scorer_of_ones_own(self, painted: Path) -> None:
        scorer = by_pixels("width", lambda planes: float(planes.pixels.shape[1]))
        assert set(beholder.score(images=painted, scorer=scorer).scores) == {48.0}


def test_gradients(small_pickscore: Path) -> None:
    scores = beholder.differentiable_scores(scorer="pickscore", weights=small_pickscore)
    images = torch.rand(2, 3, 40, 32, requires_grad=True)
    values = scores(images, ["a red cat", "two dogs"])
    values.sum().backward()  # type: ignore[no-untyped-call]
    assert images.grad is not None
    assert images.grad.abs().sum() > 0
    with pytest.raises(UserError, match="has no gradients"):
        beholder.differentiable_scores(scorer="brightness")
