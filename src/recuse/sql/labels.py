"""Row-wise functions of keys → `OfKeys`: `year(d) || '-' || month(d)`, `strftime(month, '%Y-%m')`.

Keys are public or were released, so what is computed from them is free. It means what it means in a row:
expressions of the total language, evaluated in Python, none of which needs an engine to read text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from recuse.scalars.expression import Call, Constant, Convert, Expression, Variable
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, Type
from recuse.sql.elaborate import Elaborator, Lookup
from recuse.sql.formula import OfKeys, ShownKey
from recuse.sql.kinds import kind_of
from recuse.sql.said import Said

KEY = "key"
COMPUTED = (Number, Float, Text, Boolean, Date, Timestamp)
"""what keys and labels may be"""

KeyAt = Callable[[exp.Expr], Said | None]
"""returns the key that an expression is; None if it is none; refuses a column that is none"""


def label(
    node: exp.Expr, key_at: KeyAt, types: Sequence[Type], elaborator: Callable[[Lookup], Elaborator]
) -> Said | None:
    """Return what an expression of keys alone says; None if it is of anything else, or not computed here."""
    if node.find(exp.AggFunc, exp.Window, exp.Query, exp.Subquery):
        return None

    def told(part: exp.Expr) -> exp.Expr:
        said = key_at(part) if part.find(exp.Column) else None
        if said is None or not isinstance(said.formula, ShownKey):
            return part
        return exp.column(str(said.formula.position), KEY, quoted=True)

    def lookup(part: exp.Expr) -> Variable:
        return Variable(KEY, part.name, types[int(part.name)])

    tree = node.transform(told)
    if any(part.table != KEY for part in tree.find_all(exp.Column)):
        return None
    expression = elaborator(lookup).expression(tree)
    return Said(OfKeys(expression), kind_of(expression.type)) if _is_computed(expression) else None


def _is_computed(expression: Expression) -> bool:
    """Return whether Python says what an expression is: text is read, and floats are written, by engines."""
    if not isinstance(expression.type, COMPUTED):
        return False
    match expression:
        case Constant() | Variable():
            return True
        case Convert(operand, kind):
            alike = isinstance(operand.type, Text) == isinstance(kind, Text)
            written = isinstance(kind, Text) and not isinstance(operand.type, Float)
            rounded = isinstance(operand.type, Float) and isinstance(kind, Number)
            return (alike or written) and not rounded and _is_computed(operand)
        case Call(function, arguments):
            return function.folds and all(map(_is_computed, arguments))
    return False
