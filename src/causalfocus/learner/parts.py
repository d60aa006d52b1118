"""A state as numbers and names, and back: what checkpoints keep and what tests compare.

Every field of a dataclass is a part, found by itself: a field that somebody adds is kept, compared
and restored without a word here. Left out are fields that follow from the others, which say so in
their metadata (`{"follows": True}`).
"""

import math
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from causalfocus.errors import CausalFocusError

Arrays = dict[str, np.ndarray[Any, Any]]
Maker = Callable[[Any, Mapping[str, Any]], Any]


class PartsError(CausalFocusError):
    """Parts do not make up the thing that they are said to be."""


def take_apart(thing: Any) -> tuple[Any, Arrays]:
    """A tree such as JSON has it, in which arrays are named, and the arrays by their names."""
    arrays: Arrays = {}
    return _tree(thing, "state", arrays), arrays


def _tree(thing: Any, path: str, arrays: Arrays) -> Any:
    if thing is None or isinstance(thing, bool | int | float | str):
        return thing
    if isinstance(thing, np.ndarray):
        arrays[path] = thing
        return {"array": path}
    if is_dataclass(thing):
        return {
            name: _tree(getattr(thing, name), f"{path}.{name}", arrays)
            for name in stored_fields(type(thing))
        }
    if isinstance(thing, Mapping):
        return [
            [_tree(key, f"{path}.{i}k", arrays), _tree(value, f"{path}.{i}", arrays)]
            for i, (key, value) in enumerate(thing.items())
        ]
    if isinstance(thing, tuple):
        return [_tree(one, f"{path}.{i}", arrays) for i, one in enumerate(thing)]
    raise PartsError(f"{path} is a {type(thing).__name__}, which has no parts that can be kept.")


def stored_fields(kind: Any) -> list[str]:
    """Names of the fields that do not follow from the others."""
    return [one.name for one in fields(kind) if not one.metadata.get("follows")]


@cache
def _stored_hints(kind: type) -> tuple[list[str], dict[str, Any]]:
    return stored_fields(kind), get_type_hints(kind)


def stored_values(kind: type, tree: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the fields of a dataclass that do not follow from the others."""
    names, hints = _stored_hints(kind)
    if not isinstance(tree, dict) or set(tree) != set(names):
        raise PartsError(f"{kind.__name__} has the fields {names}, got {_brief(tree)}.")
    return {name: put_together(hints[name], tree[name], arrays) for name in names}


def put_together(kind: Any, tree: Any, arrays: Mapping[str, Any]) -> Any:
    """The thing of a type that was taken apart."""
    return _maker(kind)(tree, arrays)


@cache
def _maker(kind: Any) -> Maker:
    """What makes things of a type. A type is looked into once: a long log has thousands of each."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _maker_of_optional(inner)
    if origin is np.ndarray:
        return _put_array
    if origin is tuple:
        return _maker_of_tuple(kind, inner)
    if isinstance(kind, type) and issubclass(kind, tuple):
        make = _maker_of_tuple(kind, tuple(get_type_hints(kind).values()))
        return lambda tree, arrays: kind(*make(tree, arrays))
    if origin in (dict, Mapping):
        return _maker_of_mapping(kind, inner)
    if is_dataclass(kind) and isinstance(kind, type):
        return lambda tree, arrays: kind(**stored_values(kind, tree, arrays))
    return _maker_of_plain(kind)


def _maker_of_optional(inner: tuple[Any, ...]) -> Maker:
    makers = [_maker(one) for one in inner if one is not type(None)]
    may_lack, (make, *others) = type(None) in inner, makers
    if not others:
        return lambda tree, arrays: None if tree is None and may_lack else make(tree, arrays)

    def make_any(tree: Any, arrays: Mapping[str, Any]) -> Any:
        if tree is None and may_lack:
            return None
        for one in makers:
            with suppress(PartsError):
                return one(tree, arrays)
        return _require(False, tree, inner)

    return make_any


def _put_array(tree: Any, arrays: Mapping[str, Any]) -> Any:
    _require(isinstance(tree, dict) and tree.get("array") in arrays, tree, "a named array")
    return arrays[tree["array"]]


def _maker_of_plain(kind: Any) -> Maker:
    """Of a number, a text, or one of several."""
    if get_origin(kind) is Literal:
        return lambda tree, _: _require(tree in get_args(kind), tree, kind)
    if kind is float:
        return lambda tree, _: float(_require(type(tree) in (int, float), tree, kind))
    return lambda tree, _: _require(type(tree) is kind, tree, kind)


def _maker_of_mapping(kind: Any, inner: tuple[Any, ...]) -> Maker:
    key, value = map(_maker, inner)

    def make(tree: Any, arrays: Mapping[str, Any]) -> Any:
        is_pairs = isinstance(tree, list) and all(isinstance(p, list) and len(p) == 2 for p in tree)
        _require(is_pairs, tree, kind)
        return {key(k, arrays): value(v, arrays) for k, v in tree}

    return make


def _maker_of_tuple(kind: Any, inner: tuple[Any, ...]) -> Maker:
    if len(inner) == 2 and inner[1] is Ellipsis:
        each = _maker(inner[0])
        return lambda tree, arrays: tuple(
            [each(one, arrays) for one in _require(isinstance(tree, list), tree, kind)]
        )
    parts = tuple(map(_maker, inner))

    def make(tree: Any, arrays: Mapping[str, Any]) -> Any:
        _require(isinstance(tree, list) and len(tree) == len(parts), tree, kind)
        return tuple([part(one, arrays) for part, one in zip(parts, tree, strict=True)])

    return make


def _require(is_right: bool, tree: Any, kind: Any) -> Any:
    if not is_right:
        raise PartsError(f"This should be {kind}: {_brief(tree)}.")
    return tree


def _brief(tree: Any) -> str:
    text = repr(tree)
    return text if len(text) <= 80 else f"{text[:77]}..."


def are_same(one: Any, other: Any) -> bool:
    """Whether two things have the same parts, to the bit."""
    (tree, arrays), (other_tree, other_arrays) = take_apart(one), take_apart(other)
    return (
        _is_equal(tree, other_tree)
        and arrays.keys() == other_arrays.keys()
        and all(a.tobytes() == other_arrays[name].tobytes() for name, a in arrays.items())
    )


def _is_equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_equal(v, other[k]) for k, v in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_equal, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)
