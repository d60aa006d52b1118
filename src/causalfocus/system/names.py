"""Node names: how they are made, checked and looked up."""

from collections.abc import Iterable, Sequence

from causalfocus.errors import InvalidInputError


def default_names(p: int) -> tuple[str, ...]:
    """X1, ..., Xp."""
    return tuple(f"X{i + 1}" for i in range(p))


def checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names as a tuple, or an error that names the culprit."""
    if isinstance(names, str):
        raise InvalidInputError(
            f"names must be a sequence of strings, one per node, not the single string {names!r}."
        )
    result = tuple(names)
    if not result:
        raise InvalidInputError("There are no nodes: give at least one name.")
    seen: set[str] = set()
    for name in result:
        if not (isinstance(name, str) and name.strip()):
            raise InvalidInputError(
                f"{name!r} is not a node name: names are non-empty strings. "
                f"Convert it, for example with str()."
            )
        if name in seen:
            raise InvalidInputError(
                f"The name {name!r} appears more than once: every node needs a name of its own."
            )
        seen.add(name)
    return result


def position(name: object, names: Sequence[str]) -> int:
    """Index of a node in the order of the names, or an error listing the names there are."""
    for i, known in enumerate(names):
        if known == name:
            return i
    raise InvalidInputError(f"There is no node named {name!r}. The nodes are {', '.join(names)}.")


def names_in_order(names: Iterable[str], own: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple, or an error if they are not a node's own in some order."""
    labels = checked_names(names)
    if sorted(labels) != sorted(own):
        raise InvalidInputError(f"{', '.join(labels)} is not a reordering of {', '.join(own)}.")
    return labels


def require_same_names(names: Sequence[str], others: Sequence[str]) -> None:
    """Raise if two models have different nodes, or the same in another order."""
    if tuple(names) != tuple(others):
        raise InvalidInputError(
            f"The models have different nodes or orders of nodes: {', '.join(names)} "
            f"against {', '.join(others)}. Reorder one with relabel()."
        )
