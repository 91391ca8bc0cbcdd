"""The Metric Transformer as a model that is trained: its loss, its sentences, its checkpoints, and transfer."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tests.models.caption_folders import write_caption_folder

from beholder.errors import LabelsError, RecipeError, WeightsError
from beholder.models.metric_transformer.attention import PER_METRIC, MetricNetwork
from beholder.models.metric_transformer.cosines import cosines
from beholder.models.metric_transformer.model import SENTENCES, MetricTransformer, build, configure
from beholder.models.metric_transformer.transfer import convert_state
from beholder.models.text.sentence_encoder import PACKAGE, load_sentence_encoder
from beholder.models.trainable import Batch, UsesEncoders
from beholder.models.weights.checkpoint import Record, load_checkpoint, save_checkpoint
from beholder.tables.provenance import Plain

pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")

SMALL: dict[str, Plain] = {"encoders": ["pixel"], "width": 8, "heads": 2, "feedforward": 16}
BOTH = ("alignment", "quality")


def model(aspects: tuple[str, ...] = BOTH, **settings: Plain) -> MetricTransformer:
    torch.manual_seed(0)
    transformer = build(configure(SMALL | settings, [], aspects), fresh=True)
    transformer.module.eval()
    return transformer


def batch(ratings: list[list[float]], aspects: tuple[str, ...] = BOTH, dims: int = 3072) -> Batch:
    torch.manual_seed(1)
    count = len(ratings)
    return Batch(
        prompts=("a red cube", "a dog in the snow"),
        pixels=torch.rand(count, dims),
        prompt_of=torch.arange(count) % 2,
        pairs=torch.empty(0, 2, dtype=torch.int64),
        soft_labels=torch.empty(0),
        pair_weights=torch.empty(0),
        aspects=aspects,
        ratings=torch.tensor(ratings),
        answers=torch.ones(count, len(aspects)),
    )


NAN = float("nan")


def test_loss_is_the_mean_square_over_what_was_rated() -> None:
    transformer = model(members=2)
    labelled = batch([[1.0, NAN], [0.5, 2.0], [NAN, NAN]])
    scores = transformer._scores(labelled).detach().numpy()  # (members, images, metrics)
    expected = sum(
        ((member[0, 0] - 1.0) ** 2 + (member[1, 0] - 0.5) ** 2 + (member[1, 1] - 2.0) ** 2) / 3
        for member in scores
    )
    assert transformer.loss(labelled).item() == pytest.approx(expected, rel=1e-5)
    predicted = transformer.predict(labelled)
    assert tuple(predicted) == BOTH
    np.testing.assert_allclose(predicted["quality"].detach().numpy(), scores.mean(0)[:, 1], rtol=1e-6)


def test_aspects_are_matched_by_name() -> None:
    transformer = model()
    plain = batch([[1.0, 2.0], [0.5, 1.5]])
    turned = batch([[2.0, 9.0, 1.0], [1.5, 9.0, 0.5]], ("quality", "beauty", "alignment"))
    torch.testing.assert_close(transformer.loss(plain), transformer.loss(turned))


def test_nothing_rated_is_refused() -> None:
    with pytest.raises(LabelsError, match="alignment, quality"):
        model().loss(batch([[NAN, NAN]]))


def test_quality_has_a_fixed_sentence_and_alignment_the_prompt() -> None:
    transformer = model()
    sentences = transformer._sentences(batch([[0.0, 0.0], [0.0, 0.0]]))
    assert sentences.shape == (2, 2, 384)
    torch.testing.assert_close(sentences[0, 1], sentences[1, 1])
    assert not torch.allclose(sentences[0, 0], sentences[1, 0])
    torch.testing.assert_close(sentences.square().mean(2), torch.ones(2, 2))
    assert transformer._settings.sentences == SENTENCES
    as_prompt = model(sentences={})._sentences(batch([[0.0, 0.0], [0.0, 0.0]]))
    torch.testing.assert_close(as_prompt[:, 0], as_prompt[:, 1])


def test_prepared_features_are_those_of_the_encoders() -> None:
    transformer = model(encoders=["pixel", "pixel"])
    assert isinstance(transformer, UsesEncoders)
    pixels = np.random.default_rng(0).integers(0, 255, (40, 40, 3), np.uint8)
    features = transformer.prepare(Image.fromarray(pixels), np.random.default_rng(0))
    once = transformer.encoders[0].encode([pixels])[0]
    np.testing.assert_array_equal(features, np.concatenate([once, once]))
    assert transformer.config["image_dims"] == len(features)


def test_it_learns() -> None:
    """Quality is the brightness and alignment its opposite: a hundred steps are enough to tell."""
    transformer = model(dropout=0.0, input_dropout=0.0)
    labelled = batch([[0.0, 0.0]] * 32)
    bright = labelled.pixels.mean(1)
    brightness = (bright - bright.mean()) / bright.std()
    labelled.ratings[:] = torch.stack([-brightness, brightness], 1)
    optimiser = torch.optim.AdamW(transformer.parameter_groups(3e-3, 0.0))
    transformer.module.train()
    first = transformer.loss(labelled).item()
    for _ in range(60):
        optimiser.zero_grad()
        torch.autograd.backward(transformer.loss(labelled))
        optimiser.step()
    assert transformer.loss(labelled).item() < first / 10


def saved(transformer: MetricTransformer, folder: Path, aspects: tuple[str, ...]) -> Path:
    save_checkpoint(folder, transformer, Record("metric-transformer", transformer.config, aspects))
    return folder


def test_a_checkpoint_gives_the_same_scores(tmp_path: Path) -> None:
    transformer = model(members=2)
    labelled = batch([[0.0, 0.0]] * 3)
    transformer.module.train()
    transformer.loss(labelled)  # the numbers to standardise with are part of it
    transformer.module.eval()
    loaded, record = load_checkpoint(saved(transformer, tmp_path, BOTH))
    assert record.config == transformer.config
    for aspect, scores in transformer.predict(labelled).items():
        torch.testing.assert_close(loaded.predict(labelled)[aspect], scores)


def test_transfer_takes_over_what_is_shared(tmp_path: Path) -> None:
    before = model(("quality",))
    after = model(("alignment",), start=str(saved(before, tmp_path, ("quality",))))
    for name, value in before.module.state_dict().items():
        torch.testing.assert_close(after.module.state_dict()[name], value)
    assert all(parameter.requires_grad for parameter in after.module.parameters())
    frozen = model(("alignment",), start=str(tmp_path), frozen="shared")
    learning = {
        name.partition(".")[2] for name, parameter in frozen.module.named_parameters() if parameter.requires_grad
    }
    assert learning == PER_METRIC
    groups = [group["params"] for group in frozen.parameter_groups(1e-3, 0.0)]
    assert sum(len(group) for group in groups if isinstance(group, list)) == len(PER_METRIC)


def test_slices_of_known_metrics_are_kept_and_new_ones_are_their_mean() -> None:
    state = {"0.bias": torch.tensor([1.0, 3.0]), "0.mix.bias": torch.tensor([7.0, 8.0])}
    converted = convert_state(state, ("quality", "alignment"), ("alignment", "authenticity", "quality"))
    assert converted["0.bias"].tolist() == [3.0, 2.0, 1.0]
    assert converted["0.mix.bias"].tolist() == [7.0, 8.0]


def test_transfer_from_another_size_is_refused(tmp_path: Path) -> None:
    saved(model(("quality",)), tmp_path, ("quality",))
    with pytest.raises(WeightsError, match="shape"):
        model(("alignment",), start=str(tmp_path), width=16)
    with pytest.raises(WeightsError, match=r"model\.json"):
        model(("alignment",), start=str(tmp_path / "nowhere"))


def test_all_faults_of_settings_at_once() -> None:
    wrong: dict[str, Plain] = {"encoders": ["eyes"], "width": 9, "heads": 2, "frozen": "shared"}
    with pytest.raises(RecipeError) as caught:
        configure(wrong, [], BOTH)
    for part in ("encoder 'eyes' is not known", "multiple of heads (2)", "nothing to freeze"):
        assert part in str(caught.value)
    with pytest.raises(RecipeError, match="depth"):
        configure({"depth": 3}, [], BOTH)


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_caption_folder(tmp_path_factory.mktemp("clip"), "clip")


def clip_model(folder: Path, **settings: Plain) -> MetricTransformer:
    both: dict[str, Plain] = {"encoders": ["pixel", "clip"], "weights": {"clip": str(folder)}, "text": str(folder)}
    return model(BOTH, **both | settings)


def test_weights_of_a_folder_give_features_sentences_and_their_cosine(clip_folder: Path) -> None:
    transformer = clip_model(clip_folder)
    assert transformer.config["image_dims"] == 3072 + 12
    assert transformer.config["shared"] == [[3072, 3084]]
    pixels = np.random.default_rng(0).integers(0, 255, (2, 40, 40, 3), np.uint8)
    features = np.stack([transformer.prepare(Image.fromarray(image), None) for image in pixels])
    labelled = batch([[0.0, 0.0]] * 2)
    labelled.pixels.resize_(2, 3084).copy_(torch.from_numpy(features))
    alike = cosines(labelled.pixels, transformer._sentences(labelled), transformer._shared)
    prompts, fixed = transformer._text.encode(labelled.prompts), transformer._text.encode([SENTENCES["quality"]])
    image = features[:, 3072:] / np.linalg.norm(features[:, 3072:], axis=1, keepdims=True)
    expected = np.stack([(image * prompts).sum(1), image @ fixed[0]], 1)  # alignment: the prompt; quality: fixed
    np.testing.assert_allclose(alike[:, :, 0].numpy(), expected, rtol=0, atol=1e-6)


def test_scores_depend_on_the_cosine(clip_folder: Path) -> None:
    transformer = clip_model(clip_folder)
    images, sentences = torch.rand(3, 3084), torch.rand(3, 2, 12)
    (network,) = transformer.module
    assert isinstance(network, MetricNetwork)
    low, high = (network(images, sentences, torch.full((3, 2, 1), cosine)) for cosine in (0.0, 1.0))
    assert not torch.allclose(low, high)
    network.train()
    network(images, sentences, torch.rand(3, 2, 1))
    assert network.state_dict()["standardise_cosines.running_mean"].item() > 0
    network.freeze_shared()
    network.train()
    assert not network.standardise_cosines.training


def test_spaces_that_are_not_shared_have_no_cosine(clip_folder: Path, tmp_path: Path) -> None:
    assert clip_model(clip_folder, text=None).config["shared"] == []
    other = write_caption_folder(tmp_path, "clip", seed=2)
    assert clip_model(clip_folder, text=str(other)).config["shared"] == []


def test_a_model_of_a_folder_is_loaded_again_with_the_same_weights_alone(tmp_path: Path) -> None:
    weights = write_caption_folder(tmp_path / "clip", "clip")
    transformer = clip_model(weights)
    labelled = batch([[0.0, 0.0]] * 3, dims=3084)
    folder = saved(transformer, tmp_path / "model", BOTH)
    loaded, _ = load_checkpoint(folder)
    for aspect, scores in transformer.predict(labelled).items():
        torch.testing.assert_close(loaded.predict(labelled)[aspect], scores)
    write_caption_folder(weights, "clip", seed=3)
    load_sentence_encoder.cache_clear()
    changed, _ = load_checkpoint(folder)
    with pytest.raises(WeightsError, match="train it again"):
        changed.prepare(Image.new("RGB", (32, 32)), None)
    with pytest.raises(WeightsError, match="train it again"):
        changed.predict(labelled)


def test_a_checkpoint_from_before_folders_could_be_given_still_loads(tmp_path: Path) -> None:
    transformer = model()
    config = {key: part for key, part in transformer.config.items() if key not in ("weights", "shared")}
    save_checkpoint(tmp_path, transformer, Record("metric-transformer", config, BOTH))
    loaded, _ = load_checkpoint(tmp_path)
    labelled = batch([[0.0, 0.0]] * 2)
    torch.testing.assert_close(loaded.predict(labelled)["quality"], transformer.predict(labelled)["quality"])


def test_weights_of_an_encoder_that_is_not_used_are_refused() -> None:
    with pytest.raises(RecipeError, match="'clip', which is not among the encoders"):
        configure(SMALL | {"weights": {"clip": "somewhere"}}, [], BOTH)
