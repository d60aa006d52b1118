"""A fingerprint of the code that results come from."""

import ast
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "causalfocus"


@cache
def source_digest(*modules: str) -> str:
    """Fingerprint of some modules and of all that they import within the package.

    What the code says counts, not how it is commented: documentation may improve without making
    results look as if they came from elsewhere.
    """
    digest = hashlib.sha256()
    for name, path in sorted(sources_behind(*modules).items()):
        tree = _without_docstrings(ast.parse(path.read_text(encoding="utf-8")))
        digest.update(f"{name}\0{ast.dump(tree)}\0".encode())
    return digest.hexdigest()


def sources_behind(*modules: str) -> dict[str, Path]:
    """Modules of the package that these import, directly or not, themselves included."""
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _source_of(name)
        if name in found or path is None:
            continue
        found[name] = path
        waiting += _imports(ast.parse(path.read_text(encoding="utf-8")))
    return found


def _source_of(name: str) -> Path | None:
    """The file of a module; None for what is no module of its own."""
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec is not None and spec.origin is not None else None


def _imports(tree: ast.AST) -> list[str]:
    """Names in the package that may be modules, from all import statements."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.split(".")[0] == PACKAGE and name != PACKAGE]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return tree


def _is_text(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
