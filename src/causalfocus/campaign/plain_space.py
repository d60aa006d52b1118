"""What matters and what is assumed, as JSON and YAML have it."""

from collections.abc import Mapping
from typing import Any, Final

from causalfocus.system.space import ModelClass

SPACE_KEYS: Final = (
    *("min_effect", "max_effect", "noise_variance", "intercept"),
    *("outcomes", "forbidden", "acyclic"),
)


def space_as_dict(space: ModelClass) -> dict[str, Any]:
    """As `space_from` reads it back; what is known beforehand only where there is something."""
    noise = space.noise_variance
    known = {
        "outcomes": list(space.outcomes),
        "forbidden": [list(pair) for pair in space.forbidden],
        "acyclic": space.acyclic,
    }
    return {
        "max_effect": space.max_effect,
        "noise_variance": None if noise is None else list(noise),
        "intercept": space.intercept,
        **{key: value for key, value in known.items() if value},
    }


def space_from(given: Mapping[str, Any]) -> ModelClass:
    """From the mapping of a specification, which has a min_effect."""
    noise = given.get("noise_variance")
    return ModelClass(
        given["min_effect"],
        given.get("max_effect"),
        tuple(noise) if isinstance(noise, list) else noise,
        given.get("intercept", True),
        outcomes=given.get("outcomes", ()),
        forbidden=given.get("forbidden", ()),
        acyclic=given.get("acyclic", False),
    )
