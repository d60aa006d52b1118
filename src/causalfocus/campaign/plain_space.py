"""What matters, what is known and what is assumed, as JSON and YAML have it."""

from collections.abc import Mapping
from typing import Any, Final

from causalfocus.system.numbers_by_name import is_by_name
from causalfocus.system.sizes import plain_size, size_from_plain
from causalfocus.system.space import ModelClass

SPACE_KEYS: Final = (
    *("min_effect", "max_effect", "noise_variance", "intercept", "matters", "widths"),
    *("outcomes", "forbidden", "required", "tiers", "acyclic"),
)


def space_as_dict(space: ModelClass) -> dict[str, Any]:
    """As `space_from` reads it back; what is known beforehand only where there is something."""
    smallest = {} if space.min_effect is None else {"min_effect": plain_size(space.min_effect)}
    known = {
        "matters": dict(space.matters or ()),
        "widths": dict(space.widths),
        "outcomes": list(space.outcomes),
        "forbidden": [list(pair) for pair in space.forbidden],
        "required": [list(pair) for pair in space.required],
        "tiers": [list(group) for group in space.tiers],
        "acyclic": space.acyclic,
    }
    return {
        **smallest,
        "max_effect": plain_size(space.max_effect),
        "noise_variance": _noise_as_plain(space),
        "intercept": space.intercept,
        **{key: value for key, value in known.items() if value},
    }


def _noise_as_plain(space: ModelClass) -> Any:
    noise = space.noise_variance
    if noise is None:
        return None
    if is_by_name(noise):
        return {name: list(span) for name, span in noise}
    return list(noise)


def space_from(given: Mapping[str, Any]) -> ModelClass:
    """From the mapping of a specification, which says what matters."""
    noise = given.get("noise_variance")
    return ModelClass(
        size_from_plain("min_effect", given.get("min_effect")),
        size_from_plain("max_effect", given.get("max_effect")),
        tuple(noise) if isinstance(noise, list) else noise,
        given.get("intercept", True),
        matters=given.get("matters"),
        widths=given.get("widths") or {},
        outcomes=given.get("outcomes", ()),
        forbidden=given.get("forbidden", ()),
        required=given.get("required", ()),
        tiers=given.get("tiers", ()),
        acyclic=given.get("acyclic", False),
    )
