"""The command line as a user runs it."""

import json
from pathlib import Path

import pytest

import causalfocus as cf
from cli.commands import causalfocus


def test_demo_goes_from_nothing_to_a_certificate(tmp_path: Path) -> None:
    picture = tmp_path / "deep" / "journey.png"
    done = causalfocus("demo", "--nodes", "3", "--out", str(picture))
    assert done.returncode == 0, done.stderr
    assert "Certified after" in done.stdout
    assert "Hamming distance 0" in done.stdout.replace("\n", " ")
    assert "not rejected at delta" in done.stdout
    assert "journey.png" in done.stdout.replace("\n", "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo_as_json_is_reproducible() -> None:
    runs = [causalfocus("demo", "--seed", "11", "--nodes", "2", "--json") for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout
    facts = json.loads(runs[0].stdout)
    assert facts["stopped"] and facts["shd"] == 0


SIMULATE = ["simulate", "--nodes", "3", "--seed", "2", "--json"]


def test_simulate_prints_what_it_should() -> None:
    done = causalfocus(*SIMULATE)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["stopped"] and facts["correct"] and facts["shd"] == 0
    assert facts["max_weight_error"] < 0.07
    assert facts["evidence"] >= facts["threshold"]
    assert sum(facts["counts"].values()) == facts["rounds"]
    assert 0 < facts["complexity"] < 1
    assert facts["rounds"] * facts["complexity"] > 1


def test_simulate_prints_the_verdicts_on_all_pairs() -> None:
    given = ("simulate", "--nodes", "3", "--seed", "2", "--rule", "randomized", "--reach", "6")
    done = causalfocus(*given, "--min-effect", "0.3", "--epsilon", "0.15", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["settled"] == len(facts["pairs"]) == 6 and facts["claim_holds"]
    edges = {(cause, effect) for cause, effect, _ in cf.LinearSEM.from_dict(facts["truth"]).edges}
    present = {
        (one["cause"], one["effect"]) for one in facts["pairs"] if one["verdict"] != "absent"
    }
    assert present == edges
    done = causalfocus(*given, "--max-rounds", "20")
    assert done.returncode == 3 and "0 of 6 pairs settled" in done.stdout


def test_simulate_says_when_it_has_not_stopped() -> None:
    done = causalfocus(*SIMULATE, "--max-rounds", "50")
    assert done.returncode == 3
    facts = json.loads(done.stdout)
    assert not facts["stopped"] and facts["rounds"] == 50 and facts["reason"]
    paper = causalfocus(*SIMULATE, "--rule", "paper", "--max-rounds", "30")
    assert paper.returncode == 3
    assert "samples at the present rate" in json.loads(paper.stdout)["reason"]


def test_simulate_has_a_rule_for_whoever_chooses() -> None:
    """Nobody has to name one: coins for FOCUS, and for baselines, that toss none, the gaussian."""
    short = [*SIMULATE, "--max-rounds", "30"]
    for policy, words in (("focus", "pairs are settled"), ("uniform", "pairs are settled")):
        assert words in json.loads(causalfocus(*short, "--policy", policy).stdout)["reason"]
    coins = causalfocus(*short, "--policy", "random", "--rule", "randomized")
    assert coins.returncode == 2 and "where a baseline chooses the actions" in coins.stderr


@pytest.mark.parametrize("verb", ["simulate", "plan"])
def test_switches_must_be_among_the_variables(verb: str) -> None:
    made = causalfocus(verb, "--nodes", "2", "--switch", "X9")
    assert made.returncode == 2 and "no node named 'X9'" in made.stderr


def test_simulate_leaves_switches_at_their_ends() -> None:
    arguments = ("--nodes", "2", "--seed", "1", "--max-rounds", "200", "--json", "--rule")
    counts = [
        json.loads(causalfocus("simulate", *arguments, "randomized", *more).stdout)["counts"]
        for more in ((), ("--switch", "X1"))
    ]
    assert ["do(X1 = 0)" in found for found in counts] == [True, False]
    assert ["do(X2 = 0)" in found for found in counts] == [True, True]


def test_what_cannot_be_set_needs_a_word() -> None:
    """Where nobody says that it drives nothing, what to do is said; then it is drawn so."""
    stuck = [*SIMULATE, "--range", "X1=none", "--max-rounds", "30"]
    for command in (stuck, ["plan", "--nodes", "3", "--range", "X1=none"]):
        done = causalfocus(*command)
        assert done.returncode == 2 and "No coin picks a value of X1" in done.stderr
        for words in ("outcomes=['X1']", "--outcome X1", "--forbid X1=X2", "--rule gaussian"):
            assert words in done.stderr
    facts = json.loads(causalfocus(*stuck, "--outcome", "X1").stdout)
    assert all(row[0] == 0.0 for row in facts["truth"]["weights"])
    assert {p["verdict"] for p in facts["pairs"] if p["cause"] == "X1"} == {"absent"}
    assert {p["verdict"] for p in facts["pairs"] if p["cause"] != "X1"} == {"open"}


def test_what_is_known_beforehand() -> None:
    """The drawn system is as it is known to be, and the pairs say so."""
    flags = ["--require", "X1=X2", "--tier", "X1", "--tier", "X2,X3", "--max-rounds", "30"]
    facts = json.loads(causalfocus(*SIMULATE, *flags).stdout)
    weights = facts["truth"]["weights"]
    assert weights[1][0] != 0.0 and weights[0] == [0.0, 0.0, 0.0]
    pairs = {(one["cause"], one["effect"]): one for one in facts["pairs"]}
    assert [pair for pair, one in pairs.items() if one["is_required"]] == [("X1", "X2")]
    assert pairs["X2", "X1"]["verdict"] == pairs["X3", "X1"]["verdict"] == "absent"
    assert facts["estimate"]["weights"][1][0] != 0.0


@pytest.mark.parametrize("verb", ["simulate", "plan"])
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--require", "X1=X9"], "required names 'X9'"),
        (["--require", "X1"], "must look like heat=yield"),
        (["--tier", "X1", "--tier", "X9"], "tiers names 'X9'"),
        (["--tier", "X1,X2", "--tier", "X2"], "'X2' is in two tiers"),
        (["--require", "X2=X1", "--tier", "X1", "--tier", "X2"], "'X2' comes after 'X1'"),
        (["--require", "X1=X2", "--forbid", "X1=X2"], "forbidden says that there is none"),
        (["--require", "X1=X2", "--require", "X2=X1"], "required has the loop"),
    ],
)
def test_bad_knowledge_is_one_line(verb: str, flags: list[str], words: str) -> None:
    done = causalfocus(verb, "--nodes", "3", *flags)
    assert done.returncode == 2 and words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("policy", ["random", "ait-dcdi", "cbed", "abcd", "git-dcdi"])
def test_simulate_runs_the_baselines(policy: str) -> None:
    arguments = [*SIMULATE, "--policy", policy, "--max-rounds"]
    short = causalfocus(*arguments, "40")
    assert short.returncode == 3, short.stderr
    facts = json.loads(short.stdout)
    assert facts["rounds"] == 40 == sum(facts["counts"].values()) and not facts["stopped"]
    assert json.loads(causalfocus(*arguments, "40").stdout)["estimate"] == facts["estimate"]


def test_simulate_runs_a_baseline_to_a_certificate() -> None:
    done = causalfocus(*SIMULATE, "--policy", "random", "--rule", "class")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["stopped"] and facts["correct"] and facts["evidence"] >= facts["threshold"]


def test_simulate_takes_a_system_from_a_file(tmp_path: Path) -> None:
    system = {"weights": [[0, 0], [0.6, 0]], "noise_variances": [1, 1], "names": ["heat", "yield"]}
    path = tmp_path / "system.json"
    path.write_text(json.dumps(system))
    done = causalfocus("simulate", "--model", str(path), "--policy", "uniform", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["estimate"]["names"] == ["heat", "yield"]
    path.write_text("{")
    broken = causalfocus("simulate", "--model", str(path), "--json")
    assert broken.returncode == 2 and "cannot be read as JSON" in broken.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["demo", "--density", "3", "--json"], 2, "density is a probability"),
        (["demo", "--nodes", "0", "--json"], 2, "number of nodes must be 1 or more"),
        (["demo", "--nodes", "30", "--rule", "gaussian", "--json"], 2, "30 nodes are too many"),
        (["demo", "--nodes", "x"], 2, "--nodes"),
        (["demo", "--max-rounds", "-1", "--json"], 2, "--max-rounds"),
        (["simulate", "--epsilon", "0.2", "--json"], 2, "above min_effect / 2"),
        (["simulate", "--delta", "2", "--json"], 2, "delta is a probability"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_usage_errors(arguments: list[str], code: int, message: str) -> None:
    done = causalfocus(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_version() -> None:
    done = causalfocus("--version")
    assert done.returncode == 0 and done.stdout.strip().count(".") == 2
