"""What a campaign is about: the variables, what can be done to them, and what is asked for."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from causalfocus.campaign.schema import VERSION
from causalfocus.errors import InvalidInputError, MissingExtraError, UnidentifiableWarning
from causalfocus.guarantees import DEFAULT_RULE, RULES
from causalfocus.learner.focus import Focus
from causalfocus.system.action_set import ActionSet
from causalfocus.system.actions import OBSERVE, Action, do
from causalfocus.system.space import ModelClass

KEYS: Final = (
    "title",
    "variables",
    "observe_cost",
    "min_effect",
    "epsilon",
    "delta",
    "rule",
    "max_effect",
    "noise_variance",
    "intercept",
)
RULES_OF_VERSION_1: Final = {"resolution": "gaussian", "evidence": "class", "paper": "paper"}

VARIABLE_KEYS: Final = ("range", "cost", "unit")

RESERVED: Final = (
    *("action", "target", "value", "round", "seq", "at", "who", "note", "id", "kind"),
    "observe",
)
"""Names of other columns in files of samples, and of what is no variable there."""

EXAMPLE: Final = """\
title: Reactor 3
variables:
  heater: {range: [20, 80], cost: 5, unit: °C}
  flow: {range: [1, 3]}
  yield: {}
min_effect: 0.15
epsilon: 0.07
delta: 0.05
"""
"""A specification as a person writes it."""


@dataclass(frozen=True, kw_only=True)
class Specification:
    """All that a campaign's learner depends on but its samples.

    Attributes
    ----------
    title : for people
    actions : what can be done, and what it costs
    units : of the variables, in their order; empty where there is none
    space : what matters, and what is assumed by the rules that assume something
    epsilon : accuracy of the weights; None for the graph alone
    delta : how often what is certified may be wrong
    rule : by its name
    """

    title: str
    actions: ActionSet
    units: tuple[str, ...]
    space: ModelClass
    epsilon: float | None
    delta: float
    rule: str = DEFAULT_RULE

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):
            raise InvalidInputError(f"The title must be a text, got {self.title!r}.")
        if len(self.units) != len(self.actions.names):
            raise InvalidInputError(
                f"There are {len(self.units)} units for {len(self.actions.names)} variables."
            )
        for name in self.names:
            if name in RESERVED:
                raise InvalidInputError(
                    f"A variable cannot be called {name!r}: in files of samples that means "
                    f"something else. Choose another, for example {name + '_1'!r}."
                )
            if name != name.strip() or not name.isprintable():
                raise InvalidInputError(
                    f"The name {name!r} begins or ends with a space, or cannot be printed."
                )
        if not isinstance(self.rule, str) or self.rule not in RULES:
            raise InvalidInputError(
                f"The rule of a campaign is one of {', '.join(RULES)}, got {self.rule!r}."
            )
        if self.actions.at_once > 1:
            raise InvalidInputError(
                f"A campaign sets one variable in a round; these actions set up to "
                f"{self.actions.at_once} at once. Use at_once=1, or a learner in Python."
            )
        self.learner()  # whatever it refuses is refused before anything is written

    @property
    def names(self) -> tuple[str, ...]:
        return self.actions.names

    def unit(self, name: str) -> str:
        return self.units[self.names.index(name)]

    def learner(self) -> Focus:
        """A learner that has seen nothing."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnidentifiableWarning)  # `doubts` says it once
            return Focus(
                self.actions,
                self.space,
                epsilon=self.epsilon,
                delta=self.delta,
                rule=self.rule,
                ends="game",
                seed=0,
            )

    def doubts(self) -> list[str]:
        """What may never be certified with these actions, in words."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnidentifiableWarning)
            Focus(self.actions, self.space, epsilon=self.epsilon, rule=self.rule)
        return [str(one.message) for one in caught]

    def to_dict(self) -> dict[str, Any]:
        """As JSON and YAML have it; `from_dict` reads it back."""
        costs = dict(zip(self.actions, self.actions.costs, strict=True))
        variables: dict[str, dict[str, Any]] = {}
        for name, ends, unit in zip(self.names, self.actions.ranges, self.units, strict=True):
            entry: dict[str, Any] = {}
            if ends is not None:
                own = [costs[do(name, value)] for value in ends]
                entry["range"] = list(ends)
                entry["cost"] = own if own[0] != own[1] else own[0]
            if unit:
                entry["unit"] = unit
            variables[name] = entry
        noise = self.space.noise_variance
        return {
            "title": self.title,
            "variables": variables,
            "observe_cost": costs[OBSERVE],
            "min_effect": self.space.min_effect,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "rule": self.rule,
            "max_effect": self.space.max_effect,
            "noise_variance": None if noise is None else list(noise),
            "intercept": self.space.intercept,
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Specification":
        """From a mapping such as a YAML or JSON file holds."""
        if not isinstance(given, Mapping):
            raise InvalidInputError(
                f"A specification is a mapping, got {type(given).__name__}. For example:\n{EXAMPLE}"
            )
        _refuse_unknown(given, KEYS, "A specification")
        variables = given.get("variables")
        if not isinstance(variables, Mapping) or not variables:
            raise InvalidInputError(
                f"A specification needs variables, a mapping from name to range, got "
                f"{variables!r}. For example:\n{EXAMPLE}"
            )
        for key in ("min_effect", "epsilon"):
            if key not in given:
                raise InvalidInputError(f"The specification lacks {key}. For example:\n{EXAMPLE}")
        noise = given.get("noise_variance")
        space = ModelClass(
            given["min_effect"],
            given.get("max_effect"),
            None if noise is None else tuple(noise) if isinstance(noise, list | tuple) else noise,
            given.get("intercept", True),
        )
        return cls(
            title=given.get("title", "") or "",
            actions=_actions(variables, given.get("observe_cost", 1.0)),
            units=tuple(_unit(name, entry) for name, entry in variables.items()),
            space=space,
            epsilon=given["epsilon"],
            delta=given.get("delta", 0.05),
            rule=given.get("rule", DEFAULT_RULE),
        )

    def to_stored(self) -> str:
        """The document that a campaign file keeps for ever, in the words of its version."""
        return json.dumps({"version": VERSION, **self.to_dict()}, ensure_ascii=False)

    @classmethod
    def from_stored(cls, document: str) -> "Specification":
        """From the document of a campaign file, whatever version wrote it.

        A stored document is never changed, for the chain of digests begins with it: it keeps its
        words, and they are read as what they meant.
        """
        given = json.loads(document)
        version = given.pop("version", 1)
        if version == 1:
            word = given.pop("stopping", "resolution")
            given["rule"] = RULES_OF_VERSION_1.get(word, word)
        elif version != VERSION:
            raise InvalidInputError(
                f"The specification has version {version!r} and this causalfocus reads up to "
                f"{VERSION}: it was written by a newer one. Upgrade causalfocus."
            )
        return cls.from_dict(given)

    @classmethod
    def read(cls, path: Path) -> "Specification":
        """From a file in YAML or JSON."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInputError(f"{path} cannot be read: {error}.") from None
        if path.suffix.lower() == ".json":
            try:
                return cls.from_dict(json.loads(text))
            except json.JSONDecodeError as error:
                raise InvalidInputError(f"{path} is not JSON: {error}.") from None
        return cls.from_dict(_from_yaml(path, text))


def _from_yaml(path: Path, text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingExtraError(
            f"To read {path.name} as YAML install pip install 'causalfocus[campaign]', or give a "
            f"JSON file, whose name ends in .json."
        ) from None
    try:
        _refuse_doubles(path, yaml.compose(text, yaml.SafeLoader))
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInputError(f"{path} is not YAML: {error}") from None


def _refuse_doubles(path: Path, node: Any) -> None:
    """YAML lets a later key replace an earlier one without a word."""
    pairs = node.value if getattr(node, "id", "") == "mapping" else []
    keys = [key.value for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise InvalidInputError(f"{path} has {key!r} twice in one place.")
    for _, value in pairs:
        _refuse_doubles(path, value)


def _refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for key in given:
        if key not in known:
            raise InvalidInputError(f"{what} has no {key!r}. It can have {', '.join(known)}.")


def _unit(name: str, entry: Any) -> str:
    unit = entry.get("unit", "") if isinstance(entry, Mapping) else ""
    if not isinstance(unit, str):
        raise InvalidInputError(f"The unit of {name} must be a text, got {unit!r}.")
    return unit


def _actions(variables: Mapping[Any, Any], observe_cost: Any) -> ActionSet:
    ranges: dict[str, Any] = {}
    for name, entry in variables.items():
        if isinstance(entry, Mapping):
            _refuse_unknown(entry, VARIABLE_KEYS, f"The variable {name}")
            ranges[name] = entry.get("range")
        else:
            ranges[name] = entry
    bare = ActionSet(ranges)
    costs: dict[Action | str, float] = {OBSERVE: observe_cost}
    for name, ends in zip(bare.names, bare.ranges, strict=True):
        entry = variables[name]
        cost: Any = entry.get("cost", 1.0) if isinstance(entry, Mapping) else 1.0
        if ends is None:
            if isinstance(entry, Mapping) and "cost" in entry:
                raise InvalidInputError(f"{name} has a cost but no range: it cannot be set.")
            continue
        if isinstance(cost, list | tuple) and len(cost) == 2:
            costs |= {do(name, value): price for value, price in zip(ends, cost, strict=True)}
        else:
            costs |= {do(name, value): cost for value in ends}
    return ActionSet(ranges, costs=costs)
