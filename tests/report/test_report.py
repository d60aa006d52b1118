"""Layouts and pictures."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import causalfocus as cf
from causalfocus.report.layout import layers_of
from causalfocus.report.pictures import NEGATIVE, NODE_RADIUS, POSITIVE, comparison, save


@pytest.mark.parametrize("seed", range(12))
def test_effects_are_right_of_their_causes_and_nodes_do_not_overlap(seed: int) -> None:
    model = cf.random_sem(7, density=0.15 + 0.05 * seed, seed=seed)
    layout = layers_of(model)
    for cause, effect, _ in model.edges:
        assert layout.nodes[cause][0] < layout.nodes[effect][0]
    points = np.array(list(layout.nodes.values()))
    gaps = np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1))
    assert gaps[~np.eye(7, dtype=bool)].min() > 2 * NODE_RADIUS
    assert layers_of(model) == layout


@pytest.mark.parametrize("seed", range(12))
def test_long_edges_pass_beside_the_nodes(seed: int) -> None:
    model = cf.random_sem(7, density=0.5, seed=seed)
    layout = layers_of(model)
    nodes = np.array(list(layout.nodes.values()))
    for route in layout.routes.values():
        for point in route:
            assert np.hypot(*(nodes - point).T).min() > NODE_RADIUS


def test_a_graph_without_edges_can_be_drawn(tmp_path: Path) -> None:
    model = cf.LinearSEM(np.zeros((3, 3)), 1.0)
    save(comparison(model, model), tmp_path / "empty.svg")
    assert (tmp_path / "empty.svg").read_text().count("<path") > 3


def test_pictures_show_signs_and_mistakes(tmp_path: Path) -> None:
    truth = cf.LinearSEM([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.0, -0.9, 0.0]], 1.0)
    estimate = cf.LinearSEM([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.4, 0.0, 0.0]], 1.0)
    figure = comparison(truth, estimate)
    left, right = figure.axes
    assert right.get_title() == "Recovered: 2 edges wrong"
    assert {text.get_text() for text in left.texts} >= {"+0.90", "-0.90"}
    save(figure, tmp_path / "graph.png")
    pixels = (imread(tmp_path / "graph.png")[..., :3] * 255).round().astype(int)
    for colour in (POSITIVE, NEGATIVE):
        rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        assert (np.abs(pixels - rgb).max(axis=2) < 3).sum() > 50
