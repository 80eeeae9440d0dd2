"""SQL → operators of formulas: which node of a tree is which."""

from __future__ import annotations

from recuse.sql.formula import Operator

ARITHMETIC = {
    "+": Operator.ADD,
    "-": Operator.SUBTRACT,
    "*": Operator.MULTIPLY,
    "/": Operator.DIVIDE,
    "%": Operator.MODULO,
    "//": Operator.WHOLE_DIVIDE,
}


ONE_NUMBER = {
    "abs": Operator.ABS,
    "sign": Operator.SIGN,
    "floor": Operator.FLOOR,
    "ceil": Operator.CEIL,
    "sqrt": Operator.SQRT,
}


CHOICES = {"greatest": Operator.GREATEST, "least": Operator.LEAST, "coalesce": Operator.COALESCE}


COMPARED = {"=": Operator.EQUAL, "<": Operator.LESS, "<=": Operator.AT_MOST}


FLIPPED = {">": "<", ">=": "<="}
