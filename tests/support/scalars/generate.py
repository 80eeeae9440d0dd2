"""Random typed expressions over all functions and all stored types, subexpressions used again and again."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from recuse.scalars import build, literals, types
from recuse.scalars.expression import Call, Constant, Expression, parts
from recuse.scalars.function import Function, Mistyped
from recuse.scalars.table import TABLE
from support.scalars.extremes import COLUMNS, OPAQUE

KINDS: dict[str, Callable[[types.Type], bool]] = {
    "whole": lambda kind: isinstance(kind, types.Number) and kind.scale == 0,
    "exact": lambda kind: isinstance(kind, types.Number),
    "float": lambda kind: isinstance(kind, types.Float),
    "number": lambda kind: isinstance(kind, types.Number | types.Float),
    "text": lambda kind: isinstance(kind, types.Text),
    "bool": lambda kind: isinstance(kind, types.Boolean),
    "date": lambda kind: isinstance(kind, types.Date),
    "timestamp": lambda kind: isinstance(kind, types.Timestamp),
    "moment": lambda kind: isinstance(kind, types.Date | types.Timestamp),
    "time": lambda kind: isinstance(kind, types.Time),
    "uuid": lambda kind: isinstance(kind, types.Uuid),
    "any": lambda kind: not isinstance(kind, types.Opaque),
}
WHOLES = (
    "0", "1", "-1", "2", "3", "7", "10", "-3", "100", "12", "2020", "255", "-128", "32768", "2147483647",
    "4096", "-2147483648", "9223372036854775807", "9223372036854775808",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
    "18446744073709551615",
)  # fmt: skip
EXACTS = (
    "0.5", "-0.5", "0.05", "1.25", "100.00", "-3.14159", "0.0000000001", "9.99", "123456789012345678.9",
    "0.0", "0.00000000000000000000000000000000000001", "1234567890123456789012345678901234.5678", "2.5",
)  # fmt: skip
FLOATS = (
    "NaN", "inf", "-inf", "0.0", "-0.0", "1.5", "-2.5", "1e300", "1e-300", "5e-324", "1e38", "3.7", "-1",
    "0.1", "1.7976931348623157e308", "1e15",
)  # fmt: skip
TEXTS = (
    "", " ", "a", "b", "ab", "x", "12", "-1.5", "1e400", "nan", "2020-02-29", "true", "it's", "ä", "ß",
    "日本", "é", ",", "e\u0301", "A", "straße", "%", "_", "\\", "abc" * 20, "\u00a0", "12:00:00", "👩‍👩‍👧",
    "İ",
)  # fmt: skip
DATES = ("0001-01-01", "9999-12-31", "1970-01-01", "2020-02-29", "1999-12-31", "2024-1-5")
MOMENTS = (
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "1970-01-01",
    "2020-02-29 12:34:56.789",
    "1969-12-31T23:59",
)
TIMES = ("00:00", "24:00:00", "12:34:56.789", "23:59:59.999999")
UUIDS = ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")
PATTERNS = (
    "%",
    "_",
    "a%",
    "%b",
    "%a%b%",
    "a_c",
    "",
    "A%",
    "ä%",
    "%\\%",
    "a!%b!_c",
    "%!!%",
    "100!%",
    "1%",
    "%ß%",
    "_%_",
)
REGEXES = (
    "a+", "^a", "b$", "[a-c]+", "(a|b)*c", "^$", "a{2,3}", "\\d+", "^\\s*\\d+\\s*$", "[^a]", "(?i)ABC",
    "\\w+ \\w+", "x{10}", ".", "^.$", "\\.", "[$]", "a|$", "\\bfoo", "(?:ab)+$", "[äö]", "\\$", "[a\\]]",
    "[^\\d]", "\\S\\W\\D", "é?", "\\\\",
)  # fmt: skip
TARGETS: tuple[types.Type, ...] = (
    types.TINYINT, types.SMALLINT, types.INTEGER, types.BIGINT, types.HUGEINT, types.decimal(4, 2),
    types.decimal(9, 0), types.decimal(18, 3), types.decimal(18, 18), types.decimal(38, 0),
    types.decimal(38, 10), types.decimal(38, 38), types.decimal(1, 1), types.decimal(38, 30),
    types.whole(0, 255), types.whole(0, 2**64 - 1), types.whole(0, 2**32 - 1), types.Float(),
    types.Float(nan=True), types.Text(), types.Text(3), types.Boolean(), types.Date(), types.Timestamp(),
    types.Time(), types.Uuid(),
)  # fmt: skip


def constants(kind: str) -> list[Constant]:
    """Return the constants of a kind."""
    match kind:
        case "whole":
            return [literals.number(text) for text in WHOLES]
        case "exact":
            return [literals.number(text) for text in (*WHOLES, *EXACTS)]
        case "float":
            return [literals.literal(text, types.Float()) for text in FLOATS]
        case "number":
            return constants("exact") + constants("float")
        case "text":
            return [literals.text(text) for text in TEXTS]
        case "bool":
            return [Constant(True, types.Boolean()), Constant(False, types.Boolean())]
        case "date":
            return [literals.literal(text, types.Date()) for text in DATES]
        case "timestamp":
            return [literals.literal(text, types.Timestamp()) for text in MOMENTS]
        case "moment":
            return constants("date") + constants("timestamp")
        case "time":
            return [literals.literal(text, types.Time()) for text in TIMES]
        case "uuid":
            return [literals.literal(text, types.Uuid()) for text in UUIDS]
    return [literals.NULL]


CONSTANTS = {kind: [*constants(kind), literals.NULL] for kind in KINDS}
LEAVES = {
    kind: [column for column in COLUMNS.values() if holds(column.type)] for kind, holds in KINDS.items()
}

Maker = Callable[["Generator", int], Sequence[Expression]]


def of(*kinds: str) -> Maker:
    """Return a maker of arguments of these kinds; a kind in quotes is written down: 'year'."""

    def make(generator: Generator, depth: int) -> Sequence[Expression]:
        return [generator.argument(kind, depth) for kind in kinds]

    return make


def alike(least: int, most: int | None = None) -> Maker:
    """Return a maker of arguments that have a type in common, or nearly."""

    def make(generator: Generator, depth: int) -> Sequence[Expression]:
        rng = generator.rng
        kind = rng.choice(
            ("number", "exact", "whole", "moment", "text", "bool", "date", "time", "uuid", "float")
        )
        count = rng.randint(least, most or least)
        found = [generator.make(kind, depth) for _ in range(count)]
        if rng.random() < 0.15:
            found[rng.randrange(count)] = generator.make(
                "text", depth
            )  # text is read as what it stands beside
        if rng.random() < 0.05:
            found[rng.randrange(count)] = literals.NULL
        return found

    return make


def cases(generator: Generator, depth: int) -> Sequence[Expression]:
    """Return the arguments of CASE."""
    values = alike(2, 4)(generator, depth)
    found: list[Expression] = []
    for value in values[:-1]:
        found += [generator.make("bool", depth), value]
    return [*found, values[-1]]


def either(*makers: Maker) -> Maker:
    """Return a maker that is one of several."""
    return lambda generator, depth: generator.rng.choice(makers)(generator, depth)


def choice(*texts: str) -> str:
    """Return a kind: one of several texts, written down."""
    return "'" + "\0".join(texts)


UNITS = choice(
    "year", "Month", "day", "week", "quarter", "hour", "minute", "second", "millisecond", "microsecond",
    "decade", "century", "millennium", "years", "mon", "dow", "fortnight",
)  # fmt: skip
PLACES = choice("0", "1", "2", "-1", "-2", "15", "-15", "5", "16")
COUNTS = choice("0", "1", "3", "-2", "12", "40", "300", "-1", "20000")

RECIPES: dict[str, Maker] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "is distinct from", "nullif"), alike(2)),
    "between": alike(3),
    "in": alike(2, 6),
    "and": either(of("bool", "bool"), of("bool", "bool", "bool"), of("any", "bool")),
    "or": either(of("bool", "bool"), of("bool", "bool", "bool"), of("any", "bool")),
    "not": either(of("bool"), of("any")),
    "is null": of("any"),
    "is true": either(of("bool"), of("any")),
    "is false": either(of("bool"), of("any")),
    "case": cases,
    "coalesce": alike(1, 4),
    "greatest": alike(2, 4),
    "least": alike(2, 4),
    "+": either(of("exact", "exact"), of("number", "number"), of("date", "whole"), of("whole", "date")),
    "-": either(of("exact", "exact"), of("number", "number"), of("date", "whole"), of("date", "date")),
    "*": either(of("exact", "exact"), of("number", "number")),
    "/": of("number", "number"),
    "//": of("whole", "whole"),
    "%": either(of("exact", "exact"), of("float", "number"), of("whole", "whole")),
    **dict.fromkeys(("neg", "abs", "sign", "floor", "ceil"), either(of("exact"), of("float"))),
    **dict.fromkeys((
        "round", "trunc",
    ), either(of("exact"), of("float"), of("exact", PLACES), of("float", PLACES))),
    "width_bucket": lambda generator, depth: generator.buckets(depth),
    **dict.fromkeys(
        (
            "sqrt", "cbrt", "exp", "ln", "log10", "log2", "sin", "cos", "tan", "cot", "asin", "acos",
            "atan", "degrees", "radians", "isnan", "isinf", "isfinite", "single", "sinh", "cosh", "tanh",
            "asinh", "acosh", "atanh",
        ),
        of("number"),
    ),
    **dict.fromkeys(("log", "pow", "atan2"), of("number", "number")),
    "pi": of(),
    **dict.fromkeys(("lower", "upper", "initcap", "length", "reverse"), of("text")),
    **dict.fromkeys(("strlen", "ascii", "unicode"), of("text")),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), either(of("text"), of("text", "text"))),
    "substring": either(of("text", "whole"), of("text", "whole", "whole"), of("text", COUNTS, COUNTS)),
    **dict.fromkeys(("left", "right"), either(of("text", "whole"), of("text", COUNTS))),
    "split_part": either(of("text", "text", "whole"), of("text", choice(",", " ", "a"), COUNTS)),
    **dict.fromkeys(("||", "concat"), either(of("any", "text"), of("text", "any", "text"))),
    "concat_ws": either(of("text", "any"), of("text", "text", "any", "text")),
    "translate": either(of("text", "text", "text"), of("text", choice("abA", " ,"), choice("", "xyz"))),
    **dict.fromkeys(("&", "|", "xor"), of("whole", "whole")),
    "replace": either(of("text", "text", "text"), of("text", choice("a", "ab", " "), choice("", "b", "xyz"))),
    **dict.fromkeys(
        ("lpad", "rpad"),
        either(of("text", "whole", choice("x", "ab", "ä")), of("text", COUNTS, choice("x", "0", ""))),
    ),
    "repeat": either(of("text", COUNTS), of("text", "whole")),
    **dict.fromkeys((
        "position", "contains", "starts_with", "ends_with",
    ), either(of("text", "text"), of("text", choice("a", "", "ä")))),
    **dict.fromkeys(
        (
            "like", "ilike",
        ), either(of("text", choice(*PATTERNS)), of("text", choice(*PATTERNS), choice("!", "\\")))
    ),
    **dict.fromkeys(("regexp_matches", "regexp_full_match"), of("text", choice(*REGEXES))),
    **dict.fromkeys(
        (
            "year", "quarter", "month", "day", "dayofweek", "isodow", "dayofyear", "week", "isoyear",
            "yearweek", "century", "decade", "millennium", "dayname", "monthname", "last_day",
        ),
        of("moment"),
    ),
    **dict.fromkeys((
        "hour", "minute", "second", "millisecond", "microsecond", "epoch",
    ), either(of("moment"), of("time"))),
    **dict.fromkeys(("epoch_ms", "epoch_us"), of("moment")),
    "make_date": either(
        of("whole", "whole", "whole"), of("whole", COUNTS, COUNTS), of(COUNTS, COUNTS, "whole")
    ),
    "strftime": of("moment", choice("%Y", "%m/%d", "%H:%M:%S %p %I", "%A %j %u", "%f%%")),
    "date_trunc": of(UNITS, "moment"),
    "date_diff": of(UNITS, "moment", "moment"),
    "age": of("moment", "moment"),
    "shift": of("moment", COUNTS, UNITS),
}  # fmt: skip


def is_open(expression: Expression) -> bool:
    """Return whether an expression is no constant, and a type that is compared."""
    return not isinstance(expression, Constant) and KINDS["any"](expression.type)


@dataclass
class Generator:
    """Expressions of one statement; what was made before is used again."""

    rng: random.Random
    most: int = 45
    made: list[Expression] = field(default_factory=list)
    accepted: Counter[Function] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def forget(self) -> None:
        """Begin another statement."""
        self.made.clear()

    def expression(self) -> Expression:
        """Return an expression of any kind that is not a leaf."""
        while True:
            found = self.apply(self.rng.choice(NAMES), self.rng.choice((0, 1, 1, 2, 2, 3, 4)))
            if found is not None and not isinstance(found, Constant):
                return found

    def argument(self, kind: str, depth: int) -> Expression:
        """Return an argument: of a kind, or one of the texts written down."""
        if not kind.startswith("'"):
            return self.make(kind, depth)
        text = self.rng.choice(kind[1:].split("\0"))
        return literals.number(text) if text.lstrip("-").isdigit() else literals.text(text)

    def buckets(self, depth: int) -> Sequence[Expression]:
        """Return the arguments of width_bucket."""
        ends = self.rng.choice(
            (("0", "100"), ("-1.5", "2.5"), ("10", "0"), ("-0.001", "9223372036854775807"), ("-128", "127"))
        )
        return [
            self.make("exact", depth),
            *map(literals.number, (*ends, self.rng.choice(("1", "7", "100", "0")))),
        ]

    def make(self, kind: str, depth: int) -> Expression:
        """Return an expression of a kind."""
        holds = KINDS[kind]
        if depth > 0:
            known = [old for old in self.made if holds(old.type)]
            if known and self.rng.random() < 0.25:
                return self.rng.choice(known)
            for _ in range(4):
                name = self.rng.choice(BY_KIND[kind])
                found = self.apply(name, depth - 1)
                if found is not None and holds(found.type):
                    return found
        if self.rng.random() < 0.3:
            return self.rng.choice(CONSTANTS[kind])
        return self.rng.choice(LEAVES[kind])

    def apply(self, name: str, depth: int) -> Expression | None:
        """Return a call over random arguments, None if it is refused or too large."""
        try:
            found = self._cast(depth) if name == "cast" else build.apply(name, *self._arguments(name, depth))
        except Mistyped as mistake:
            self.refused[f"{name}: {mistake.problem}"] += 1
            return None
        if sum(1 for _ in parts(found)) > self.most:
            return None
        if isinstance(found, Call):
            self.accepted[found.function] += 1
        if not isinstance(found, Constant):
            self.made.append(found)
        return found

    def _arguments(self, name: str, depth: int) -> Sequence[Expression]:
        found = RECIPES[name](self, depth)
        if found and self.rng.random() < 0.02:  # something else stands there
            place = self.rng.randrange(len(found))
            other = OPAQUE if self.rng.random() < 0.1 else self.make("any", 0)
            return [*found[:place], other, *found[place + 1 :]]
        return found

    def _cast(self, depth: int) -> Expression:
        return build.bring(self.make("any", depth), self.rng.choice(TARGETS))


NAMES = [*TABLE, *["cast"] * 8]


def _giving() -> dict[str, list[str]]:
    """Return which functions can give which kind: found by trying, not by a second list."""
    found: dict[str, set[str]] = {kind: {"cast"} for kind in KINDS}
    for name in TABLE:
        for seed in range(60):
            generator = Generator(random.Random(f"{name}{seed}"))
            result = generator.apply(name, 0)
            if result is not None:
                for kind, holds in KINDS.items():
                    if holds(result.type):
                        found[kind].add(name)
    return {kind: [*sorted(names), *["cast"] * max(1, len(names) // 10)] for kind, names in found.items()}


BY_KIND: dict[str, list[str]] = {}
BY_KIND.update(_giving())
