"""What a campaign is about: the variables, what can be done to them, and what is asked for."""

import json
import warnings
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from causalfocus.campaign.plain_actions import (
    actions_from,
    costs_as_dict,
    refuse_unknown,
    switches_as_dict,
    unit_from,
    variables_as_dict,
)
from causalfocus.campaign.plain_space import SPACE_KEYS, space_as_dict, space_from
from causalfocus.campaign.schema import VERSION
from causalfocus.errors import InvalidInputError, MissingExtraError, UnidentifiableWarning
from causalfocus.guarantees import DEFAULT_RULE, RULES
from causalfocus.guarantees.budget import checked_budget
from causalfocus.learner.focus import Focus
from causalfocus.learner.seed import checked_seed
from causalfocus.system.action_set import ActionSet
from causalfocus.system.choices import ENDS, Ends
from causalfocus.system.question import EVERYTHING, Question, about_from_plain
from causalfocus.system.sizes import GRAPH, Accuracy, plain_size, size_from_plain
from causalfocus.system.space import ModelClass

KEYS: Final = (
    "title",
    "variables",
    "observe_cost",
    "set_costs",
    "at_once",
    "switches",
    *SPACE_KEYS,
    "epsilon",
    "delta",
    "rule",
    "seed",
    "ends",
    "about",
    "budget",
)
RULES_OF_VERSION_1: Final = {"resolution": "gaussian", "evidence": "class", "paper": "paper"}

RULE_IN_OLD_FILES: Final = "gaussian"
"""What a file meant that named no rule: the default of its time, whatever it is today."""

VERSIONS_BEFORE_COINS: Final = (1, 2)
NO_COINS: Final = {"seed": 0, "ends": "game"}
"""What campaigns did before there were coins, until they get a seed of their own."""

RESERVED: Final = (
    *("action", "target", "value", "round", "seq", "at", "who", "note", "id", "kind"),
    *("observe", "failed", "performed", "not_done"),
)
"""Names of other columns in files of samples, and of what is no variable there."""

FORMULAS: Final = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of a formula."""

EXAMPLE: Final = """\
title: Reactor 3
variables:
  heater: {range: [20, 80], cost: 5, unit: °C}
  flow: {range: [1, 3]}
  yield: {}
outcomes: [yield]
matters: {heater: 5, flow: 0.2, yield: 2}
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
    epsilon : accuracy of the weights, as for `Focus`
    delta : how often what is certified may be wrong
    rule : by its name
    seed : of the coins; one is drawn if there is none
    ends : who picks the ends of the ranges, see `Focus`; None for what the rule does by itself
    about, budget : what is asked, and in how many rounds, see `Focus`
    """

    title: str
    actions: ActionSet
    units: tuple[str, ...]
    space: ModelClass
    epsilon: Accuracy | None
    delta: float
    rule: str = DEFAULT_RULE
    seed: int | None = None
    ends: Ends | None = None
    about: Question = EVERYTHING
    budget: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.title, str):
            raise InvalidInputError(f"The title must be a text, got {self.title!r}.")
        if len(self.units) != len(self.actions.names):
            raise InvalidInputError(
                f"There are {len(self.units)} units for {len(self.actions.names)} variables."
            )
        for name in self.names:
            if name != name.strip() or not name.isprintable():
                raise InvalidInputError(
                    f"The name {name!r} begins or ends with a space, or cannot be printed."
                )
        if not isinstance(self.rule, str) or self.rule not in RULES:
            raise InvalidInputError(
                f"The rule of a campaign is one of {', '.join(RULES)}, got {self.rule!r}."
            )
        if self.ends is not None and self.ends not in ENDS:
            raise InvalidInputError(f"ends is 'coin' or 'game', or left out, got {self.ends!r}.")
        object.__setattr__(self, "seed", checked_seed(self.seed))
        self._blank  # noqa: B018 - whatever it refuses is refused before anything is written

    @property
    def names(self) -> tuple[str, ...]:
        return self.actions.names

    def unit(self, name: str) -> str:
        return self.units[self.names.index(name)]

    def require_free_names(self, names: Iterable[str] | None = None) -> None:
        """Raise if a variable has a name that means something else in files of samples.

        Asked of new names only: in an older file one may be there that has got a meaning since.
        """
        for name in self.names if names is None else names:
            require_free_name(name)

    def learner(self) -> Focus:
        """A learner that has seen nothing."""
        twin = copy(self._blank)
        twin.restore(self._blank.state, [])
        return twin

    @cached_property
    def _blank(self) -> Focus:
        """The first such learner: its first plan takes long with many variables."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnidentifiableWarning)  # `doubts` says it once
            return Focus(
                self.actions,
                self.space,
                epsilon=self.epsilon,
                delta=self.delta,
                rule=self.rule,
                ends=self.ends,
                seed=self.seed,
                about=self.about,
                budget=self.budget,
            )

    def doubts(self) -> list[str]:
        """What may never be certified with these actions, in words."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UnidentifiableWarning)
            Focus(
                self.actions,
                self.space,
                epsilon=self.epsilon,
                rule=self.rule,
                about=self.about,
            )
        return [str(one.message) for one in caught]

    def to_dict(self) -> dict[str, Any]:
        """As JSON and YAML have it; `from_dict` reads it back."""
        return {
            "title": self.title,
            "variables": variables_as_dict(self.actions, self.units),
            **costs_as_dict(self.actions),
            "at_once": max(self.actions.at_once, 1),
            **switches_as_dict(self.actions),
            **({} if self.epsilon is None else {"epsilon": plain_size(self.epsilon)}),
            "delta": self.delta,
            "rule": self.rule,
            **space_as_dict(self.space),
            "seed": self.seed,
            "ends": self.ends,
            **({} if self.about.is_everything else {"about": self.about.plain()}),
            **({} if self.budget is None else {"budget": self.budget}),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Specification":
        """From a mapping such as a YAML or JSON file holds."""
        if not isinstance(given, Mapping):
            raise InvalidInputError(
                f"A specification is a mapping, got {type(given).__name__}. For example:\n{EXAMPLE}"
            )
        refuse_unknown(given, KEYS, "A specification")
        variables = given.get("variables")
        if not isinstance(variables, Mapping) or not variables:
            raise InvalidInputError(
                f"A specification needs variables, a mapping from name to range, got "
                f"{variables!r}. For example:\n{EXAMPLE}"
            )
        if "min_effect" not in given and "matters" not in given:
            raise InvalidInputError(
                f"The specification does not say what matters: matters, the change of every "
                f"variable that is worth knowing, or min_effect. For example:\n{EXAMPLE}"
            )
        if "epsilon" in given and given["epsilon"] is None:
            raise InvalidInputError(
                "epsilon is empty. Leave it out for half of what matters, or write epsilon: graph "
                "for the graph alone."
            )
        actions = actions_from(given)
        return cls(
            title=given.get("title", ""),
            actions=actions,
            units=tuple(unit_from(name, entry) for name, entry in variables.items()),
            space=space_from(given),
            epsilon=size_from_plain("epsilon", given.get("epsilon")),
            delta=given.get("delta", 0.05),
            rule=given.get("rule", DEFAULT_RULE),
            seed=given.get("seed"),
            ends=given.get("ends"),
            about=Question.of(about_from_plain(given.get("about")), actions.names),
            budget=checked_budget(given.get("budget")),
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
        if "epsilon" in given and given["epsilon"] is None:
            given["epsilon"] = GRAPH  # the word for it, before there was one
        if version == 1:
            word = given.pop("stopping", "resolution")
            given["rule"] = RULES_OF_VERSION_1.get(word, word)
        given.setdefault("rule", RULE_IN_OLD_FILES)
        if version in VERSIONS_BEFORE_COINS:
            given |= NO_COINS
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


def require_free_name(name: str) -> None:
    """Raise if a name means something else in files of samples."""
    if name in RESERVED:
        raise InvalidInputError(
            f"A variable cannot be called {name!r}: in files of samples that means something else. "
            f"Choose another, for example {name + '_1'!r}."
        )
    if name.startswith(FORMULAS):
        raise InvalidInputError(
            f"A variable cannot be called {name!r}: in a file of samples a spreadsheet would take "
            f"it for a formula. Begin it with a letter."
        )


def is_from_before_coins(document: str) -> bool:
    """Whether the document of a campaign file was written when no coins were tossed."""
    return int(json.loads(document).get("version", 1)) in VERSIONS_BEFORE_COINS


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
