"""The Metric Transformer's network: metrics see each other when they shall, and only then."""

import math

import pytest
import torch

from beholder.models.metric_transformer.attention import (
    PER_METRIC,
    MetricAttention,
    MetricNetwork,
    Shape,
    metric_weights,
    off_diagonal,
)

METRICS, IMAGE, TEXT, WIDTH = 3, 10, 6, 8


def network(*, cross: bool, metrics: int = METRICS) -> MetricNetwork:
    torch.manual_seed(3)
    shape = Shape(
        metrics, IMAGE, TEXT, WIDTH, heads=2, feedforward=16, dropout=0.1, input_dropout=0.2, cross=cross
    )
    metric_network = MetricNetwork(shape).eval()
    for parameter in metric_network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return metric_network


@pytest.fixture
def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(4)
    return torch.randn(5, IMAGE), torch.randn(5, METRICS, TEXT)


def test_weights_and_values_by_hand() -> None:
    # One image, two metrics, width 1; z = (1, 2). Queries 1·1 = 1 and 1·2 = 2, keys ln 2·1 = ln 2 and 0·2 = 0,
    # values 3·1 = 3 and 5·2 = 10. Metric 0: e^(ln 2) : e^0 = 2 : 1, so 2/3·3 + 1/3·10 = 16/3.
    # Metric 1: e^(2 ln 2) : e^0 = 4 : 1, so 4/5·3 + 1/5·10 = 22/5.
    attention = MetricAttention(2, 1)
    with torch.no_grad():
        attention.query.copy_(torch.tensor([1.0, 1.0]).reshape(2, 1, 1))
        attention.key.copy_(torch.tensor([math.log(2), 0.0]).reshape(2, 1, 1))
        attention.value.copy_(torch.tensor([3.0, 5.0]).reshape(2, 1, 1))
        z = torch.tensor([[[1.0], [2.0]]])
        torch.testing.assert_close(attention(z, None), torch.tensor([[[16 / 3], [22 / 5]]]))
        alone = attention(z, off_diagonal(2, z.device))
    torch.testing.assert_close(alone, torch.tensor([[[3.0], [10.0]]]))  # each takes its own value


def test_weights_sum_to_one_and_hide_what_is_unseen() -> None:
    queries, keys = torch.randn(4, METRICS, WIDTH), torch.randn(4, METRICS, WIDTH)
    weights = metric_weights(queries, keys, None)
    torch.testing.assert_close(weights.sum(2), torch.ones(4, METRICS))
    assert (weights > 0).all()
    alone = metric_weights(queries, keys, off_diagonal(METRICS, queries.device))
    torch.testing.assert_close(alone, torch.eye(METRICS).expand(4, -1, -1))


@pytest.mark.parametrize("cross", [True, False])
def test_a_metric_depends_on_the_others_only_with_cross_attention(
    cross: bool, inputs: tuple[torch.Tensor, torch.Tensor]
) -> None:
    images, sentences = inputs
    sentences.requires_grad_()
    scores = network(cross=cross)(images, sentences)
    for metric in range(METRICS):
        (slope,) = torch.autograd.grad(scores[:, metric].sum(), sentences, retain_graph=True)
        moved = slope.abs().amax((0, 2)) > 0
        assert moved.tolist() == [cross or other == metric for other in range(METRICS)]


def test_each_of_the_two_places_is_cut(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    """The encoder layer alone already lets metrics see each other: both must be blind for the ablation."""
    images, sentences = inputs
    metric_network = network(cross=True)
    with_attention = metric_network(images, sentences)
    with torch.no_grad():
        metric_network.attention.value.zero_()
    without_last = metric_network(images, sentences)
    assert not torch.allclose(with_attention, without_last)
    changed = sentences.clone()
    changed[:, 1] += 1
    assert not torch.allclose(metric_network(images, changed)[:, 0], without_last[:, 0])


@pytest.mark.parametrize("cross", [True, False])
def test_metrics_in_another_order_give_the_same_scores(
    cross: bool, inputs: tuple[torch.Tensor, torch.Tensor]
) -> None:
    images, sentences = inputs
    metric_network, order = network(cross=cross), [2, 0, 1]
    moved = network(cross=cross)
    moved.load_state_dict(
        {
            name: value[order] if name in PER_METRIC else value
            for name, value in metric_network.state_dict().items()
        }
    )
    torch.testing.assert_close(moved(images, sentences[:, order]), metric_network(images, sentences)[:, order])


def test_all_that_metrics_own_has_a_slice_for_each() -> None:
    names = dict(network(cross=True, metrics=5).named_parameters())
    assert set(names) >= PER_METRIC
    assert {name for name, parameter in names.items() if parameter.shape[0] == 5} == PER_METRIC


def test_one_image_does_not_change_another(inputs: tuple[torch.Tensor, torch.Tensor]) -> None:
    images, sentences = inputs
    metric_network = network(cross=True)
    torch.testing.assert_close(metric_network(images, sentences)[:2], metric_network(images[:2], sentences[:2]))


def test_features_are_dropped_in_training_alone() -> None:
    metric_network = network(cross=True)
    images = torch.ones(4, IMAGE)
    assert metric_network._dropped(images) is images
    metric_network.train()
    dropped = metric_network._dropped(images)
    assert set(dropped.flatten().tolist()) == {0.0, 1.25}  # 1 / (1 − 0.2) keeps the mean
    assert (dropped == dropped[0]).all()


def test_freezing_what_is_shared() -> None:
    metric_network = network(cross=True)
    metric_network.freeze_shared()
    assert {name for name, parameter in metric_network.named_parameters() if parameter.requires_grad} == PER_METRIC
    before = {name: value.clone() for name, value in metric_network.state_dict().items()}
    metric_network.train()
    images, sentences = torch.randn(6, IMAGE) + 3, torch.randn(6, METRICS, TEXT)
    optimiser = torch.optim.SGD(
        [parameter for parameter in metric_network.parameters() if parameter.requires_grad], lr=0.1
    )
    (metric_network(images, sentences) ** 2).mean().backward()
    optimiser.step()
    changed = {name for name, value in metric_network.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == PER_METRIC  # among what stays are the means and variances to standardise with
