import numpy as np
import torch

from beholder.models.rich_feedback.grounded.mixture import MapMixtures, divergence, mix


def test_a_mixture_is_one_of_probabilities() -> None:
    joint, by_image = torch.tensor([-9.0, 0.0, 4.0]), torch.tensor([1.0, -2.0, 0.5])
    mixed = mix(joint, by_image, torch.tensor(0.25)).sigmoid()
    torch.testing.assert_close(mixed, 0.75 * joint.sigmoid() + 0.25 * by_image.sigmoid())
    torch.testing.assert_close(mix(joint, by_image, torch.tensor(0.0)), joint)


def test_divergence_by_hand() -> None:
    # raters' map (0, ½, ½, 0) after division by its sum; predicted (⅛, ⅜, ¼, ¼): ½ ln(½ / ⅜) + ½ ln(½ / ¼)
    marked = torch.tensor([[[0.0, 2 / 3], [2 / 3, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    predicted = torch.tensor([[[0.1, 0.3], [0.2, 0.2]], [[0.9, 0.9], [0.9, 0.9]]])
    expected = 0.5 * np.log(4 / 3) + 0.5 * np.log(2)
    np.testing.assert_allclose(divergence(predicted, marked), expected, rtol=1e-6)
    assert divergence(predicted[1:], marked[1:]) == 0.0


def test_the_weight_is_that_of_the_raters_who_mark_by_the_image_alone() -> None:
    rng = torch.Generator().manual_seed(0)
    by_image = 2 * torch.randn(200, 8, 8, generator=rng)
    joint = 2 * torch.randn(200, 8, 8, generator=rng)
    marked = 0.7 * joint.sigmoid() + 0.3 * by_image.sigmoid()
    marked[0] = torch.nan
    mixtures = MapMixtures(2)
    mixtures.fit(1, joint, by_image, marked)
    assert float(mixtures.weights[0]) == 0.0  # not fitted
    assert (
        0.1 < float(mixtures.weights[1]) < 0.8
    )  # the calibrated map of the image is flatter
    mixed = mixtures(1, joint, by_image)
    assert divergence(mixed[1:].sigmoid(), marked[1:]) < 0.8 * divergence(joint[1:].sigmoid(), marked[1:])
