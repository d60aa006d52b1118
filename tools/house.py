"""Whether the house is in order: what can be counted in the source, beside its limits.

    python tools/house.py              # a table; the places where a limit is broken
    python tools/house.py --places     # every place that is counted

The exit code is 1 if a limit is broken. Everything is read from the syntax of the files; nothing is
imported. A room is a folder of the package; the modules at the root are a room together.
"""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MOST_MODULES_AT_THE_ROOT = 6
MOST_NUMERIC_SUBSCRIPTS = 10
MOST_LINES_OF_A_FUNCTION = 70
MOST_LINES_OF_A_MODULE = 400
MOST_LINES_OF_A_TEST_FILE = 500
MOST_POSITIONAL_FIELDS = 5

OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make", "_field_defaults"}
"""Public in spite of their underscore, so that they do not clash with the fields."""

OF_NUMBA = {"compiled._cache"}
"""The one thing of another library that has no public way: where compiled code is kept."""

PROTOCOLS = {"Protocol", "ABC"}
"""A class with one of these among its bases is what all kinds share; to ask for it is no kind."""

KINDS = ("Rule", "Decision", "Claim", "Guarantee")

IRREGULAR = {
    "along", "against", "beside", "beyond", "within", "borne", "bought", "brought", "built", "cut",
    "done", "drawn", "felt", "found", "given", "gone", "held", "kept", "known", "laid", "left",
    "lost", "made", "meant", "met", "paid", "put", "read", "said", "seen", "sent", "set", "shown",
    "sold", "spent", "split", "spread", "stood", "taken", "taught", "thought", "told", "understood",
    "won", "worn",
}  # fmt: skip
"""Participles that do not end as the others do, and prepositions that stand as alone as they."""

NO_PARTICIPLES = {
    "feed": "a verb",
    "need": "a verb",
    "proceed": "a verb",
    "speed": "a noun",
    "seed": "a noun",
    "open": "a verb",
    "listen": "a verb",
    "read": "a verb: reads a file",
    "set": "a verb, or the thing",
    "put": "a verb",
    "cut": "a verb, or the thing",
    "split": "a noun: the training and the later samples",
    "spread": "a noun: a width",
    "string": "a noun",
    "setting": "a noun: what an experiment is run with",
    "standing": "a noun",
    "reading": "a noun",
    "ring": "a noun",
    "screen": "a noun",
    "tighten": "a verb",
    "widen": "a verb",
    "training": "a noun: the first samples",
    "pending": "a public name: the asks that wait for an outcome",
    "expected": "Moments.expected is a public name: the moments that a model makes one expect",
    "refuted": "a public property of decisions and results: whether, and by what",
    "certified": "a public property of results: whether",
}
"""Words that look like a participle and are none, or are a public name with a reason."""


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    path: Path
    parts: tuple[str, ...]
    text: str

    @property
    def room(self) -> str:
        return self.parts[0] if len(self.parts) > 1 else "the root"

    @property
    def dotted(self) -> str:
        names = self.parts[:-1] if self.parts[-1] == "__init__" else self.parts
        return ".".join(("causalfocus", *names))

    @property
    def is_kernel(self) -> bool:
        return "kernels" in self.parts[:-1]

    @property
    def n_lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> dict[str, tuple[str, str | None]]:
        """Local name to the module and, if it is not the module itself, the name there."""
        found: dict[str, tuple[str, str | None]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    found[alias.asname or alias.name] = (self.source_of(node), alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.asname or alias.name] = (alias.name, None)
        return found

    def source_of(self, node: ast.ImportFrom) -> str:
        """Return the absolute name of the module that is imported from."""
        if not node.level:
            return node.module or ""
        folder = ["causalfocus", *self.parts[:-1]]
        above = folder[: len(folder) - node.level + 1]
        return ".".join([*above, node.module] if node.module else above)

    def at(self, node: ast.AST, what: str) -> str:
        """Return a place, as it is listed."""
        return f"{'/'.join(self.parts)}.py:{getattr(node, 'lineno', 1)}: {what}"


@dataclass(frozen=True)
class Count:
    """Something counted, each with its place."""

    what: str
    limit: int
    places: tuple[str, ...]

    @property
    def is_broken(self) -> bool:
        return len(self.places) > self.limit


class House:
    """The source of the package and its tests."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        package = root / "src" / "causalfocus"
        self.modules = [
            Module(path, path.relative_to(package).with_suffix("").parts, path.read_text("utf-8"))
            for path in sorted(package.rglob("*.py"))
        ]
        self.by_name = {module.dotted: module for module in self.modules}

    def counts(self) -> list[Count]:
        """Return everything that has a limit."""
        found: list[tuple[str, int, Callable[[], Iterator[str]]]] = [
            ("modules at the root", MOST_MODULES_AT_THE_ROOT, self.modules_at_the_root),
            ("questions which kind of rule it is", 0, self.questions_of_kind),
            ("private names of another room", 0, self.private_names_of_others),
            ("numeric subscripts on tuples in kernels", MOST_NUMERIC_SUBSCRIPTS, self.subscripts),
            (f"functions above {MOST_LINES_OF_A_FUNCTION} lines", 0, self.long_functions),
            (f"modules above {MOST_LINES_OF_A_MODULE} lines", 0, self.long_modules),
            (f"test files above {MOST_LINES_OF_A_TEST_FILE} lines", 0, self.long_tests),
            ("functions named by a bare participle", 0, self.participles),
            (
                f"dataclasses above {MOST_POSITIONAL_FIELDS} fields that are not keyword-only",
                0,
                self.positional_dataclasses,
            ),
        ]
        return [
            Count(what, limit, tuple(sorted(places(), key=_in_order)))
            for what, limit, places in found
        ]

    def modules_at_the_root(self) -> Iterator[str]:
        for module in self.modules:
            if len(module.parts) == 1:
                yield module.at(module.tree, "at the root")

    # Kinds of rules

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Classes in guarantees/ that are one rule, a decision of one rule or one claim."""
        classes: dict[str, list[str]] = {}
        deciding = set()
        for module in self.modules:
            if module.room != "guarantees":
                continue
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    classes[node.name] = [_last_name(base) for base in node.bases]
                    if any(
                        isinstance(s, ast.FunctionDef) and s.name == "decide" for s in node.body
                    ):
                        deciding.add(node.name)

        def is_kind(name: str) -> bool:
            if name.endswith(KINDS) or name in deciding:
                return True
            return any(is_kind(base) for base in classes.get(name, ()) if base != name)

        return frozenset(
            name for name, bases in classes.items() if is_kind(name) and not PROTOCOLS & set(bases)
        )

    def questions_of_kind(self) -> Iterator[str]:
        """Calls of isinstance and issubclass, comparisons of types, and patterns of match."""
        for module in self.modules:
            unions = self._unions_of_kinds(module)
            for node in ast.walk(module.tree):
                for asked in _classes_asked_for(node):
                    names = {_last_name(each) for each in ast.walk(asked)}
                    for name in sorted(names & (self.kinds | unions)):
                        yield module.at(node, name)

    def _unions_of_kinds(self, module: Module) -> set[str]:
        """Names of the module that stand for several kinds, such as `Rule = A | B`."""
        found = set()
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Tuple):
                names = {_last_name(each) for each in ast.walk(node.value)}
                if names & self.kinds:
                    found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        return found

    # Private names

    @cached_property
    def private_names(self) -> dict[str, set[str]]:
        """Private names that each room defines: functions, classes, variables and attributes."""
        found: dict[str, set[str]] = {}
        for module in self.modules:
            own = found.setdefault(module.room, set())
            for node in ast.walk(module.tree):
                own.update(name for name in _defined_names(node) if _is_private(name))
        return found

    def private_names_of_others(self) -> Iterator[str]:
        """Uses of a private name that its own room does not define; of other packages, too."""
        for module in self.modules:
            own = self.private_names[module.room] | OF_NAMED_TUPLES
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ImportFrom):
                    yield from self._private_imports(module, node)
                elif isinstance(node, ast.Attribute) and _is_private(node.attr):
                    is_foreign = not _is_own(node.value) and node.attr not in own
                    if is_foreign and ast.unparse(node) not in OF_NUMBA:
                        yield module.at(node, ast.unparse(node))
                elif isinstance(node, ast.Call) and _last_name(node.func) in ("getattr", "setattr"):
                    match node.args:
                        case [of, ast.Constant(value=str(name)), *_] if _is_private(name):
                            if not _is_own(of) and name not in own:
                                yield module.at(node, ast.unparse(node))

    def _private_imports(self, module: Module, node: ast.ImportFrom) -> Iterator[str]:
        source = module.source_of(node)
        inside = source.split(".")
        room = inside[1] if inside[0] == "causalfocus" and len(inside) > 1 else None
        if room == module.room:
            return
        for name in [*inside, *(alias.name for alias in node.names)]:
            if _is_private(name):
                yield module.at(node, f"from {source} import {name}")

    # Kernels

    def subscripts(self) -> Iterator[str]:
        """`rows[0]` where rows is a tuple, as far as annotations tell: `rows.gram` says more."""
        for module in self.modules:
            if module.is_kernel:
                found: dict[ast.AST, str] = {}  # a function inside another is seen twice
                for node in ast.walk(module.tree):
                    if isinstance(node, ast.FunctionDef):
                        found |= Tuples(self, module, node).subscripts()
                yield from found.values()

    # Sizes and names

    def long_functions(self) -> Iterator[str]:
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    n = _function_lines(node, body_only=module.room == "cli")
                    if n > MOST_LINES_OF_A_FUNCTION:
                        yield module.at(node, f"{node.name} has {n} lines")

    def long_modules(self) -> Iterator[str]:
        for module in self.modules:
            if module.n_lines > MOST_LINES_OF_A_MODULE:
                yield module.at(module.tree, f"{module.n_lines} lines")

    def long_tests(self) -> Iterator[str]:
        for path in sorted((self.root / "tests").rglob("*.py")):
            n = len(path.read_text("utf-8").splitlines())
            if n > MOST_LINES_OF_A_TEST_FILE:
                yield f"{path.relative_to(self.root)}: {n} lines"

    def participles(self) -> Iterator[str]:
        """A name says what a thing is, or what is done: not what happened to it."""
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    word = node.name.strip("_")
                    if word not in NO_PARTICIPLES and _is_participle(word):
                        yield module.at(node, node.name)

    def positional_dataclasses(self) -> Iterator[str]:
        fields: dict[str, tuple[list[str], int]] = {}
        found = []
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef) and _dataclass_of(node) is not None:
                    bases = [_last_name(base) for base in node.bases]
                    fields[f"{module.room}.{node.name}"] = bases, _n_fields(node)
                    found.append((module, node))

        def n_fields(room: str, name: str) -> int:
            bases, own = fields.get(f"{room}.{name}", ([], 0))
            return own + sum(n_fields(room, base) for base in bases)

        for module, node in found:
            n = n_fields(module.room, node.name)
            if n > MOST_POSITIONAL_FIELDS and not _is_keyword_only(node):
                yield module.at(node, f"{node.name} has {n} fields")


Type = tuple[Module, ast.expr]
"""An annotation, and the module whose names it uses."""


class Tuples:
    """What is known of the tuples inside one function."""

    def __init__(self, house: House, module: Module, function: ast.FunctionDef) -> None:
        self.house, self.module, self.function = house, module, function
        self.types: dict[str, Type] = {}
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if each.annotation is not None:
                self.types[each.arg] = module, each.annotation
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                self.types[node.target.id] = module, node.annotation

    def subscripts(self) -> dict[ast.AST, str]:
        """Return the subscripts with a whole number of what is a tuple, and their places."""
        return {
            node: self.module.at(node, ast.unparse(node))
            for node in ast.walk(self.function)
            if isinstance(node, ast.Subscript)
            and _whole_number(node.slice) is not None
            and self.members(self.type_of(node.value)) is not None
        }

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        known = self.type_of(value)
        if known is None:
            return
        if isinstance(target, ast.Name):
            self.types[target.id] = known
        elif isinstance(target, ast.Tuple):
            members = self.members(known)
            if members is not None and len(members) == len(target.elts):
                for part, member in zip(target.elts, members.values(), strict=True):
                    if isinstance(part, ast.Name) and member is not None:
                        self.types[part.id] = member

    def type_of(self, node: ast.expr) -> Type | None:
        """Return the annotation that an expression has, if it is known."""
        match node:
            case ast.Name(id=name):
                return self.types.get(name)
            case ast.Tuple():
                return self.module, node
            case ast.Attribute(value=value, attr=attr):
                members = self.members(self.type_of(value))
                return (members or {}).get(attr)
            case ast.Subscript(value=value, slice=index):
                members = self.members(self.type_of(value))
                at = _whole_number(index)
                if members is None or at is None or not -len(members) <= at < len(members):
                    return None
                return list(members.values())[at]
            case ast.Call(func=function):
                return self._result_of(function)
        return None

    def _result_of(self, function: ast.expr) -> Type | None:
        found: tuple[Module, ast.stmt] | None = None
        if isinstance(function, ast.Name):
            found = self._definition(self.module, function.id)
        elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            source, name = self.module.imports.get(function.value.id, ("", None))
            other = self.house.by_name.get(f"{source}.{name}" if name else source)
            found = self._definition(other, function.attr) if other is not None else None
        match found:
            case (home, ast.FunctionDef(returns=returns)) if returns is not None:
                return home, returns
            case (home, ast.ClassDef(name=name)):
                return home, ast.Name(name)
        return None

    def _definition(self, module: Module, name: str) -> tuple[Module, ast.stmt] | None:
        """Return where a name is defined, through imports."""
        for node in module.tree.body:
            match node:
                case ast.FunctionDef(name=own) | ast.ClassDef(name=own) if own == name:
                    return module, node
                case ast.Assign(targets=[ast.Name(id=own)]) if own == name:
                    return module, node
                case ast.AnnAssign(target=ast.Name(id=own)) if own == name:
                    return module, node
        source, there = module.imports.get(name, ("", None))
        other = self.house.by_name.get(source)
        if other is None or there is None or other is module:
            return None
        return self._definition(other, there)

    def members(self, known: Type | None) -> dict[str, Type | None] | None:
        """Return the parts of a tuple by name, or by position; None if it is no tuple."""
        match known:
            case None:
                return None
            case (home, ast.Tuple(elts=elements)):
                return {str(i): self.type_of(each) for i, each in enumerate(elements)}
            case (home, ast.Subscript(value=ast.Name(id="tuple"), slice=inside)):
                parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
                return {str(i): (home, part) for i, part in enumerate(parts)}
            case (home, ast.Name(id=name)):
                return self._members_of_name(home, name)
        return None

    def _members_of_name(self, home: Module, name: str) -> dict[str, Type | None] | None:
        match self._definition(home, name):
            case (there, ast.Assign(value=value)):
                return self.members((there, value)) if isinstance(value, ast.Subscript) else None
            case (there, ast.AnnAssign(value=ast.Subscript() as value)):
                return self.members((there, value))
            case (there, ast.ClassDef(bases=bases, body=body)) if "NamedTuple" in map(
                _last_name, bases
            ):
                return {
                    part.target.id: (there, part.annotation)
                    for part in body
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
                }
        return None


def _in_order(place: str) -> tuple[str, int]:
    file, line = place.split(":")[:2]
    return file, int(line) if line.isdigit() else 0


def _last_name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return _last_name(value)
    return ""


def _classes_asked_for(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, asked]):
            yield asked
        case ast.MatchClass(cls=asked):
            yield asked
        case ast.Compare(left=ast.Call(func=ast.Name(id="type"), args=[_]), comparators=asked):
            yield from asked


def _defined_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            for target in targets:
                for part in ast.walk(target):
                    yield from _assigned_name(part)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from _assigned_name(target)


def _assigned_name(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=value, attr=name) if _is_own(value):
            yield name


def _is_private(name: str) -> bool:
    return (
        name.startswith("_") and not (name.startswith("__") and name.endswith("__")) and name != "_"
    )


def _is_own(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super")):
            return True
    return False


def _whole_number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


def _function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef, *, body_only: bool) -> int:
    last = node.end_lineno or node.lineno
    if not body_only:
        return last - node.lineno + 1
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return last - body[0].lineno + 1 if body else 0


def _is_participle(word: str) -> bool:
    if "_" in word:
        return False
    return word in IRREGULAR or (len(word) > 3 and word.endswith(("ed", "en", "ing")))


def _dataclass_of(node: ast.ClassDef) -> ast.expr | None:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _last_name(called) == "dataclass":
            return decorator
    return None


def _n_fields(node: ast.ClassDef) -> int:
    """Return how many fields can be given by position: those before KW_ONLY."""
    kinds = [_last_name(each.annotation) for each in node.body if isinstance(each, ast.AnnAssign)]
    before = kinds[: kinds.index("KW_ONLY")] if "KW_ONLY" in kinds else kinds
    return sum(kind != "ClassVar" for kind in before)


def _is_keyword_only(node: ast.ClassDef) -> bool:
    decorator = _dataclass_of(node)
    return isinstance(decorator, ast.Call) and any(
        option.arg == "kw_only" and isinstance(option.value, ast.Constant) and option.value.value
        for option in decorator.keywords
    )


def table(counts: list[Count], *, with_places: bool) -> str:
    """Return the counts beside their limits, and the places of those that are broken."""
    width = max(len(count.what) for count in counts)
    lines = [f"{'':{width}}  found  limit"]
    for count in counts:
        mark = "  broken" if count.is_broken else ""
        lines.append(f"{count.what:{width}}  {len(count.places):5}  {count.limit:5}{mark}")
    for count in counts:
        if count.is_broken or (with_places and count.places):
            lines += ["", f"{count.what}:", *(f"  {place}" for place in count.places)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Print the table; return 1 if a limit is broken."""
    counts = House().counts()
    sys.stdout.write(table(counts, with_places="--places" in arguments))
    return int(any(count.is_broken for count in counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
