"""Graphs with loops on paper and on the page."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import causalfocus as cf
from campaign.hands import SYSTEM, new_campaign
from causalfocus.campaign import Campaign
from causalfocus.campaign.export import whole_json
from causalfocus.campaign.status import EdgeStatus, status
from causalfocus.report.campaign_report import drawings, report_html
from causalfocus.report.drawings import graph_drawing
from causalfocus.report.layout import Layout, layers_of
from causalfocus.report.pictures import NODE_RADIUS, comparison, save
from causalfocus.system.graph import loops_of
from causalfocus.web.look import Looker

PAIR = cf.LinearSEM([[0, -0.5], [0.8, 0]], 1.0, loops=True)


def draw_looped(seed: int) -> cf.LinearSEM:
    """Any graph: about one in four edges in either direction."""
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((7, 7)) < 0.25, rng.choice([-0.5, 0.5], (7, 7)), 0.0)
    np.fill_diagonal(weights, 0.0)
    return cf.LinearSEM(weights, 1.0, loops=True)


def edges_of(model: cf.LinearSEM) -> list[EdgeStatus]:
    return [
        EdgeStatus(cause=cause, effect=effect, weight=weight, low=None, high=None, evidence=None)
        for cause, effect, weight in model.edges
    ]


def goes_back(layout: Layout, cause: str, effect: str) -> bool:
    return layout.nodes[cause][0] > layout.nodes[effect][0]


@pytest.mark.parametrize("seed", range(20))
def test_nodes_do_not_overlap_and_only_edges_on_loops_go_back(seed: int) -> None:
    model = draw_looped(seed)
    layout = layers_of(model)
    assert layers_of(model) == layout
    places = np.array(list(layout.nodes.values()))
    gaps = np.hypot(*(places[:, None] - places[None, :]).transpose(2, 0, 1))
    assert gaps[~np.eye(7, dtype=bool)].min() > 2 * NODE_RADIUS
    assert set(layout.routes) == {edge[:2] for edge in model.edges}
    group = {model.names[j]: i for i, loop in enumerate(loops_of(model.weights != 0)) for j in loop}
    backward = [edge[:2] for edge in model.edges if goes_back(layout, *edge[:2])]
    for cause, effect in backward:
        assert group[cause] == group[effect]
    assert len(backward) <= model.n_edges / 2
    for cause, effect, _ in model.edges:
        points = [layout.nodes[cause], *layout.routes[cause, effect], layout.nodes[effect]]
        steps = np.diff([x for x, _ in points])
        assert (steps < 0).all() if goes_back(layout, cause, effect) else (steps > 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_edges_back_pass_beside_the_nodes(seed: int) -> None:
    layout = layers_of(draw_looped(seed))
    nodes = np.array(list(layout.nodes.values()))
    for route in layout.routes.values():
        for point in route:
            assert np.hypot(*(nodes - point).T).min() > NODE_RADIUS


def test_one_edge_of_a_ring_goes_back() -> None:
    weights = np.zeros((5, 5))
    for j in range(5):
        weights[(j + 1) % 5, j] = 0.5
    layout = layers_of(cf.LinearSEM(weights, 1.0, loops=True))
    assert [layout.nodes[name][0] for name in ("X1", "X2", "X3", "X4", "X5")] == sorted(
        x for x, _ in layout.nodes.values()
    )
    assert len(layout.routes["X5", "X1"]) == 3 and goes_back(layout, "X5", "X1")


def test_two_nodes_that_act_on_each_other_get_an_arc_each() -> None:
    layout = layers_of(PAIR)
    ((_, above),), ((_, below),) = layout.routes["X1", "X2"], layout.routes["X2", "X1"]
    level = layout.nodes["X1"][1]
    assert above > level > below and layout.nodes["X2"][1] == level


def test_a_far_effect_that_acts_back_gets_ways_of_its_own() -> None:
    weights = [[0, 0, -0.6], [0.8, 0, 0], [0.5, 0.7, 0]]
    layout = layers_of(cf.LinearSEM(weights, 1.0, loops=True))
    assert layout.routes["X1", "X3"] != layout.routes["X3", "X1"]
    assert all(len(layout.routes[edge]) == 1 for edge in (("X1", "X3"), ("X3", "X1")))


def test_a_drawing_holds_every_edge_inside_its_frame() -> None:
    for seed in range(6):
        model = draw_looped(seed)
        drawn = graph_drawing(model, edges_of(model), 3.0, is_certain=True)
        assert drawn.count("<polygon") == model.n_edges
        width, height = map(float, re.findall(r'viewBox="0 0 (\S+) (\S+)"', drawn)[0])
        lines = " L".join(re.findall(r'd="M([^"]+)"', drawn)).split(" L")
        points = np.array([line.split() for line in lines], dtype=np.float64)
        assert (points > 0).all() and (points < [width, height]).all()
    pair = graph_drawing(PAIR, edges_of(PAIR), 3.0, is_certain=True)
    assert "X1 → X2: +0.800" in pair and "X2 → X1: -0.500" in pair
    starts = {part.split(" L")[0] for part in pair.split('d="M')[1:]}
    assert len(starts) == 2  # the arcs leave from different places


def test_a_found_loop_is_seen_beside_a_truth_without(tmp_path: Path) -> None:
    truth = cf.LinearSEM([[0, 0, 0], [0.9, 0, 0], [0, -0.7, 0]], 1.0)
    found = cf.LinearSEM([[0, 0.4, 0.5], [0.9, 0, 0], [0, -0.7, 0]], 1.0, loops=True)
    for one, other, wrong in ((truth, found, 2), (found, truth, 2), (found, found, 0)):
        figure = comparison(one, other)
        title = figure.axes[1].get_title()
        assert title == ("Recovered: all edges right" if not wrong else "Recovered: 2 edges wrong")
        save(figure, tmp_path / "loops.png")
    assert len(figure.axes[1].patches) == 4 + 3  # arrows and nodes


def test_campaign_reports_show_an_estimate_with_a_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_campaign(tmp_path / "looped.campaign") as campaign:
        rng = np.random.default_rng(0)
        for _ in range(20):
            (asked,) = campaign.next()
            campaign.record(SYSTEM.sample(asked.action, 1, rng)[0], id=asked.id)
        looped = cf.LinearSEM(
            [[0, 0, 0.4], [0.9, 0, 0.2], [0, -0.7, 0]], 1.0, names=SYSTEM.names, loops=True
        )
        result = replace(campaign.result(), model=looped)
        monkeypatch.setattr(Campaign, "result", lambda _: result)
        monkeypatch.setattr(Campaign, "model", looped)
        now = status(campaign)
        assert {(e.cause, e.effect) for e in now.edges} == {edge[:2] for edge in looped.edges}
        assert drawings(campaign, now)["graph"].count("<polygon") == 4
        text = report_html(campaign)
        assert "X3 → X1: +0.400" in text and "X1 = 0.4 X3" in text
        assert Looker(campaign).look()[1]["graph"] in text
        assert cf.LinearSEM.from_dict(json.loads(whole_json(campaign))["model"]) == looped
