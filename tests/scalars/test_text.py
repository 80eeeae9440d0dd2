"""Text, text that grows, and patterns: examples, bounds and refusals."""

from __future__ import annotations

import pytest

from recuse.scalars import build, growth, literals, types
from recuse.scalars.expression import Convert, Variable
from recuse.scalars.function import Mistyped
from support.scalars.examples import gives

S = Variable("t", "s", types.stored("VARCHAR"))
N = Variable("t", "n", types.BIGINT)


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("lower", ("ÄB",), "äb"),
        ("upper", ("straße",), "STRAẞE"),
        ("initcap", ("hello wORLD_foo 2nd",), "Hello World_Foo 2nd"),
        ("trim", ("  a ",), "a"),
        ("trim", ("xxaxx", "x"), "a"),
        ("ltrim", ("  a ",), "a "),
        ("rtrim", ("  a ",), "  a"),
        ("length", ("äb",), 2),
        ("strlen", ("äb",), 3),
        ("ascii", ("",), 0),
        ("unicode", ("",), -1),
        ("unicode", ("ä",), 228),
        ("translate", ("abcabc", "ab", "x"), "xcxc"),
        ("reverse", ("ab\u0301c",), "cb\u0301a"),
        ("substring", ("hello", 2, 3), "ell"),
        ("substring", ("hello", -3), "llo"),
        ("substring", ("hello", 2**40), None),
        ("left", ("hello", -2), "hel"),
        ("right", ("hello", 2), "lo"),
        ("split_part", ("a,b,c", ",", 2), "b"),
        ("split_part", ("a,b,c", ",", -1), "c"),
        ("split_part", ("a,b,c", ",", 9), ""),
        ("||", ("a", 1), "a1"),
        ("||", ("a", None), None),
        ("concat", ("a", None, "b"), "ab"),
        ("concat_ws", ("-", "a", None, "b"), "a-b"),
        ("replace", ("aba", "a", "xy"), "xybxy"),
        ("replace", ("aba", "", "x"), "aba"),
        ("lpad", ("7", 3, "0"), "007"),
        ("lpad", ("12345", 3, "0"), "123"),
        ("rpad", ("a", 4, "xy"), "axyx"),
        ("repeat", ("ab", 3), "ababab"),
        ("repeat", ("ab", -1), ""),
        ("position", ("hello", "l"), 3),
        ("position", ("hello", "z"), 0),
        ("contains", ("hello", "ell"), True),
        ("starts_with", ("hello", "he"), True),
        ("ends_with", ("hello", "lo"), True),
        ("like", ("hello", "h%o"), True),
        ("like", ("a%b", "a!%b", "!"), True),
        ("like", ("a\nb", "a_b"), True),
        ("ilike", ("HELLO", "h%O"), True),
        ("regexp_matches", ("hello", "l+"), True),
        ("regexp_matches", ("a\n", "a$"), False),
        ("regexp_full_match", ("hello", "l+"), False),
        ("regexp_full_match", ("2020-01-31", "\\d{4}-\\d{2}-\\d{2}"), True),
    ],
)
def test_a_text(name, arguments, wanted):
    assert gives(name, *arguments) == wanted


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("lower", (N,), "a whole number, and text is needed"),
        ("lower", (S, S), "takes 1 argument, not 2"),
        ("like", (S, S), "a pattern is written down"),
        ("like", (S, literals.text("a!"), literals.text("!")), "ends with the character that escapes"),
        ("like", (S, literals.text("a"), literals.text("ab")), "one character escapes"),
        ("lpad", (S, N, literals.text("x")), "must be bounded"),
        ("lpad", (S, literals.number("5"), literals.text("")), "at least one character"),
        ("repeat", (S, N), "must be bounded"),
        ("repeat", (S, literals.number("100")), "could grow to 409,600 characters"),
    ],
)
def test_what_is_no_text_is_refused(name, arguments, problem):
    with pytest.raises(Mistyped, match=problem):
        build.apply(name, *arguments)


@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a**", "a++", "[", "[]", "[z-a]", "a{2", "a{,3}", "a{1001}", "(?i)a", "(?<x>a)", "(?=a)",
        "\\1", "\\p{L}", "\\A", "*a", "^*", "[[:alpha:]]", "(a{100}){100}", "x" * 1_001,
        "(" * 30 + "a" + ")" * 30,
        "a\\", "{", "]",
    ],
)  # fmt: skip
def test_a_regular_expression_that_engines_read_differently_is_refused(pattern):
    with pytest.raises(Mistyped):
        build.apply("regexp_matches", S, literals.text(pattern))


def test_an_expression_that_backtracks_is_not_tried_in_python():
    found = build.apply("regexp_matches", literals.text("a" * 60 + "!"), literals.text("(a+)+$"))
    assert found.type == types.Boolean()


def test_text_is_cut_before_it_grows():
    found = build.apply("||", S, literals.text("!"))
    assert found.type == types.Text(growth.CUT + 1)
    assert found.arguments[0] == Convert(S, types.Text(growth.CUT))


def test_text_that_is_replaced_again_and_again_is_refused():
    found = build.apply("replace", S, literals.text("a"), literals.text("aaaa"))
    with pytest.raises(Mistyped, match="could grow to 65,536 characters, and 20,000 are the most"):
        build.apply("replace", found, literals.text("a"), literals.text("aaaa"))
