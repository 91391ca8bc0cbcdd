"""The packaged head of alignment and its file."""

import numpy as np
import pytest

from beholder.errors import WeightsError
from beholder.models.alignment.comparison import NetworkOutputs
from beholder.models.alignment.head import FEATURES, NUMBERS, TENSORS, head_of_tensors, read_alignment_head
from beholder.models.alignment.packaged import FOLDER, HEAD, load_class_names
from beholder.models.text.sentence_encoder import PACKAGE


def test_the_packaged_file_is_one_and_sees_twelve_features() -> None:
    head, metadata = read_alignment_head(FOLDER / HEAD)
    assert metadata["aspect"] == "alignment"
    assert head.regression.weights.shape == (len(FEATURES),) == (12,)
    outputs = NetworkOutputs(np.ones((2, len(head.comparison.map_mean))), np.eye(2, len(head.comparison.names)))
    vectors = head.comparison.names[:2]  # each prompt is the name of the class that is seen
    features = head.features(np.array([[3.0, 2.0], [1.0, 2.0]]), outputs, ["tench", "goldfish"], vectors)
    assert features[:, 0].tolist() == [3, 1]
    scores = head.scores(features)
    assert scores[0] > scores[1], "of two images that fit alike, the better one scores more"
    assert ((scores >= 0) & (scores <= 5)).all()


def test_the_numbers_of_a_file_are_those_of_the_head() -> None:
    tensors = {name: np.zeros((2, 2)) for name in TENSORS}
    head = head_of_tensors(tensors, {name: float(place) for place, name in enumerate(NUMBERS)})
    assert (head.intercept, head.conformal_width, head.unseen_width) == (0, 1, 2)


def test_a_file_that_is_no_head(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "x.safetensors").write_bytes(b"no")
    with pytest.raises(WeightsError, match="not a head of alignment"):
        read_alignment_head(tmp_path / "x.safetensors")


def test_the_names_of_classes_are_unit_vectors() -> None:
    pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")
    names = load_class_names()
    np.testing.assert_allclose(np.linalg.norm(names, axis=1), np.ones(1000), atol=2e-3)  # kept in half precision
