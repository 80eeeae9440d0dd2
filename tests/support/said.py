"""What the sources say: the words of every refusal and warning, read off the syntax trees.

Words flow: from constants, through names, helper functions and their parameters, to whatever makes an error.
A function that hands a parameter on to a maker of errors is a maker itself, until nothing new is found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import recuse
from support.sources import parsed

GAP = "…"
LEAST = 4
"""letters that a message has at least, besides its gaps"""
WHY = "str | None"
"""what a function returns that says why something is refused"""
DEPTH = 6
"""how many names and calls are followed"""
Functions = ast.FunctionDef | ast.AsyncFunctionDef


SPOKEN = {
    ("recuse.session.scale", "too_few"): "warning",
    ("recuse.sql.growth", "__str__"): "warning",
    ("recuse.session.place", "doubt"): "warning",
    ("recuse.session.scale", "cut_cautions"): "caution",
    ("recuse.session.estimate", "_cautions"): "caution",
    ("recuse.session.synthetic", "_tails"): "caution",
    ("recuse.session.synthetic", "_values"): "caution",
    ("recuse.session.notes", "number_notes"): "caution",
    ("recuse.session.notes", "table_notes"): "caution",
}
"""functions that return or yield what is said beside an answer, or before it"""
OUTSIDE = ("lab",)


def said(makers: dict[str, str]) -> list[tuple[str, str]]:
    """Return the kind and the words of every message of the package."""
    package = Path(recuse.__file__).parent
    paths = {path: path.relative_to(package).with_suffix("").parts for path in sorted(package.rglob("*.py"))}
    names = {path: ".".join(("recuse", *parts)) for path, parts in paths.items() if parts[0] not in OUTSIDE}
    modules = {name.removesuffix(".__init__"): Module.of(path, name) for path, name in names.items()}
    known = {("", name): Maker(kind, 0, "problem") for name, kind in makers.items()}
    return Sources(modules, makers, known).read()


@dataclass(frozen=True, slots=True)
class Maker:
    """A function or class that makes an error: of which kind, and which argument its words are."""

    kind: str
    place: int
    keyword: str


@dataclass(frozen=True, slots=True)
class Module:
    """A file: its constants, its functions by name, and whence it imports."""

    name: str
    constants: dict[str, ast.expr]
    functions: dict[str, list[Functions]]
    imported: dict[str, tuple[str, str]]
    calls: list[tuple[ast.Call, Functions]]

    @classmethod
    def of(cls, path: Path, name: str) -> Module:
        tree = parsed(path)
        constants: dict[str, ast.expr] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                constants[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                constants[node.target.id] = node.value
        found = cls(name, constants, {}, {}, [])
        found._look(tree, None)
        return found

    def _look(self, node: ast.AST, function: Functions | None) -> None:
        """Note functions, imports and calls, each with the innermost function around it."""
        for part in ast.iter_child_nodes(node):
            inner = function
            if isinstance(part, Functions):
                self.functions.setdefault(part.name, []).append(part)
                inner = part
            elif isinstance(part, ast.ImportFrom):
                for alias in part.names:
                    self.imported[alias.asname or alias.name] = part.module or "", alias.name
            elif isinstance(part, ast.Call) and function is not None:
                self.calls.append((part, function))
            self._look(part, inner)

    def answering(self, name: str) -> list[Functions]:
        """Return the methods of a name that return text or nothing: why something is refused."""
        return [
            one for one in self.functions.get(name, ()) if one.returns and ast.unparse(one.returns) == WHY
        ]


@dataclass
class Sources:
    """The modules of the package, and the makers that are known so far."""

    modules: dict[str, Module]
    kinds: dict[str, str]
    """the codes of the classes of errors"""
    makers: dict[tuple[str, str], Maker] = field(default_factory=dict)
    """by module and name; of a method by `*`, since its object is not known"""
    said: dict[tuple[str, str], None] = field(default_factory=dict)
    grown: bool = True

    def read(self) -> list[tuple[str, str]]:
        """Return all kinds and words."""
        calls = [
            (call, module, function) for module in self.modules.values() for call, function in module.calls
        ]
        while self.grown:
            self.grown = False
            for call, module, function in calls:
                self._hear(call, module, function)
        return [*self.said, *self._spoken()]

    def _spoken(self) -> Iterator[tuple[str, str]]:
        for (home, name), kind in SPOKEN.items():
            reader = Reader(self, self.modules[home])
            for returned, there in reader.returned(name):
                texts = [text for one in _elements(returned) for text in there.texts(one)]
                yield from ((kind, text) for text in map(_below, texts) if len(text) >= LEAST)

    # ------------------------------------------------------------------ makers

    def _hear(self, call: ast.Call, module: Module, function: Functions) -> None:
        maker = self._maker(call, module)
        if maker is None:
            return
        words = next((k.value for k in call.keywords if k.arg == maker.keyword), None)
        if words is None and len(call.args) > maker.place:
            words = call.args[maker.place]
        if words is None:
            return
        kind = next((self.kinds.get(_name(k.value), "") for k in call.keywords if k.arg == "kind"), "")
        kind = kind or maker.kind
        for text in Reader(self, module, function).texts(words):
            if len(text.replace(GAP, "")) >= LEAST and (kind, text) not in self.said:
                self.said[kind, text] = None
                self.grown = True
        self._hand_on(words, kind, module, function)

    def _hand_on(self, words: ast.expr, kind: str, module: Module, function: Functions) -> None:
        """Know a function as a maker if its own parameter is what the error says."""
        parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        bound = parameters[:1] in (["self"], ["cls"])
        every = [*parameters, *(one.arg for one in function.args.kwonlyargs)]
        for name in (part.id for part in _choices(words) if isinstance(part, ast.Name)):
            if name not in every or function.name == "__init__":
                continue
            place = parameters.index(name) - bound if name in parameters else 99
            key = ("*" if bound else module.name), function.name
            if key not in self.makers:
                self.makers[key] = Maker(kind, place, name)
                self.grown = True

    def _maker(self, call: ast.Call, module: Module) -> Maker | None:
        match call.func:
            case ast.Name(id=name):
                home, real = module.imported.get(name, (module.name, name))
                return self.makers.get((home, real)) or self.makers.get(("", real))
            case ast.Attribute(value=ast.Name(id="sqlite3")):
                return None
            case ast.Attribute(attr=name):
                return self.makers.get(("*", name)) or self.makers.get(("", name))
        return None

    def function(self, name: str, module: Module) -> tuple[Module, list[Functions]]:
        """Return what a name of a function means in a module."""
        home, real = module.imported.get(name, (module.name, name))
        there = self.modules.get(home, module)
        return there, there.functions.get(real, [])

    def methods(self, name: str) -> Iterator[tuple[Module, Functions]]:
        """Yield the functions that a method of an unknown object may be."""
        for module in self.modules.values():
            for function in module.answering(name):
                yield module, function


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the texts that an expression of a function may be."""

    sources: Sources
    module: Module
    function: Functions | None = None
    depth: int = 0

    def texts(self, part: ast.expr) -> list[str]:
        """Return the texts, with gaps for what is not known."""
        match part:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=values):
                return self._joined([v.value if isinstance(v, ast.FormattedValue) else v for v in values])
            case ast.IfExp(body=one, orelse=other):
                return [*self.texts(one), *self.texts(other)]
            case ast.BoolOp(values=values):
                return [text for value in values for text in self.texts(value)]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._joined([left, right])
            case ast.Dict(values=values) | ast.Set(elts=values):
                return [text for value in values for text in self.texts(value)]
            case ast.Subscript(value=ast.Name() as table, slice=ast.Constant(value=int(place))):
                return [text for one in self._element(table, place) for text in self.texts(one)]
            case ast.Subscript(value=ast.Name() as table):
                return [text for row in self._meant(table) for text in self.texts(row)]
            case ast.Name() if self.depth < DEPTH:
                inner = self._deeper()
                return [text for one in self._meant(part) for text in inner.texts(one)]
            case ast.Call(func=ast.Name(id=name)) if self.depth < DEPTH:
                return [t for returned, reader in self.returned(name) for t in reader.texts(returned)]
            case ast.Call(func=ast.Attribute(attr=name)) if self.depth < DEPTH:
                return [t for returned, reader in self._told_by(name) for t in reader.texts(returned)]
            case ast.Starred(value=row):
                return [text for one in self._element(row, 0) for text in self.texts(one)]
        return []

    def _joined(self, values: list[ast.expr]) -> list[str]:
        """Return parts one after another: what is neither written there nor a constant is a gap."""
        fixed = [
            self.texts(part) if isinstance(part, ast.Constant) or _name(part).isupper() else []
            for part in values
        ]
        return ["".join(texts[0] if len(texts) == 1 else GAP for texts in fixed).replace(GAP + GAP, GAP)]

    def _deeper(self) -> Reader:
        return Reader(self.sources, self.module, self.function, self.depth + 1)

    def _meant(self, name: ast.Name) -> list[ast.expr]:
        """Return what a name stands for: what is assigned to it here, or a constant."""
        found = [] if self.function is None else list(self._assigned(self.function, name.id))
        if found:
            return found
        home, real = self.module.imported.get(name.id, (self.module.name, name.id))
        there = self.sources.modules.get(home)
        return [there.constants[real]] if there is not None and real in there.constants else []

    def _assigned(self, function: Functions, name: str) -> Iterator[ast.expr]:
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                    yield value
                case ast.NamedExpr(target=ast.Name(id=target), value=value) if target == name:
                    yield value
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                    for place, target in enumerate(targets):
                        if isinstance(target, ast.Name) and target.id == name:
                            yield from self._element(value, place)
                case ast.For(target=ast.Tuple(elts=targets), iter=rows):
                    for place, target in enumerate(targets):
                        if isinstance(target, ast.Name) and target.id == name:
                            yield from self._column(rows, place)

    def _element(self, value: ast.expr, place: int) -> Iterator[ast.expr]:
        """Yield what may stand at a place of a tuple."""
        match value:
            case ast.Tuple(elts=elements) if place < len(elements):
                yield elements[place]
            case ast.IfExp(body=one, orelse=other):
                yield from self._element(one, place)
                yield from self._element(other, place)
            case ast.Name() if self.depth < DEPTH:
                for meant in self._deeper()._meant(value):
                    yield from self._deeper()._element(meant, place)
            case ast.Subscript(value=ast.Name() as table):
                for meant in self._meant(table):
                    yield from self._column(meant, place)
            case ast.Call(func=ast.Name(id=name)) if self.depth < DEPTH:
                for returned, reader in self.returned(name):
                    yield from reader._element(returned, place)
            case ast.Call(func=ast.Attribute(value=ast.Name() as table, attr="get"), args=[_, *other]):
                for meant in self._meant(table):
                    yield from self._column(meant, place)
                for one in other:
                    yield from self._element(one, place)

    def _column(self, rows: ast.expr, place: int) -> Iterator[ast.expr]:
        match rows:
            case ast.Name() if self.depth < DEPTH:
                for meant in self._meant(rows):
                    yield from self._deeper()._column(meant, place)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Dict(values=elements):
                for element in elements:
                    yield from self._element(element, place)

    def returned(self, name: str) -> Iterator[tuple[ast.expr, Reader]]:
        """Yield what a function of this package returns, and who reads it there."""
        module, functions = self.sources.function(name, self.module)
        for function in functions:
            yield from self._returns(module, function)

    def _told_by(self, name: str) -> Iterator[tuple[ast.expr, Reader]]:
        """Yield what a method says that returns why something is refused."""
        for module, function in self.sources.methods(name):
            yield from self._returns(module, function)

    def _returns(self, module: Module, function: Functions) -> Iterator[tuple[ast.expr, Reader]]:
        reader = Reader(self.sources, module, function, self.depth + 1)
        for node in ast.walk(function):
            if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
                yield node.value, reader


def _elements(part: ast.expr) -> list[ast.expr]:
    return part.elts if isinstance(part, ast.Tuple) else [part]


def _below(text: str) -> str:
    """Return what is said to beware of in a line below an answer; nothing of what else is said there."""
    head, _, words = text.partition(" ")
    return words.strip() if head == "caution" else "" if head in ("truth", "noise", "exact:") else text


def _name(part: ast.expr) -> str:
    return part.id if isinstance(part, ast.Name) else ""


def _choices(part: ast.expr) -> Iterator[ast.expr]:
    """Yield what an expression may be, where it chooses."""
    match part:
        case ast.IfExp(body=one, orelse=other):
            yield from _choices(one)
            yield from _choices(other)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _choices(value)
        case _:
            yield part
