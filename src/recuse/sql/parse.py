"""SQL text → one SELECT as a syntax tree, or a refusal. Nothing is looked up, nothing is run.

Every bound here is on the text, so that no input makes the parser run out of stack or time.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Grammar
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.arguments import refuse_dropped
from recuse.sql.dialect import DUCKDB, Dialect
from recuse.sql.position import line_and_column, refusal, span
from recuse.sql.qualified import shorten

MAX_LENGTH = 100_000
MAX_NESTING = 20
OUR_AGGREGATES = ("trimmed_mean",)
MAX_DEPTH = 100
MOMENTS = {
    "to_date": ("DATE", "YYYY-MM-DD", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "to_timestamp": (
        "TIMESTAMP",
        "YYYY-MM-DD HH24:MI:SS.US",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}",
    ),
}
"""functions of constants that tools write for PostgreSQL: of which type, in which form, and how that looks"""

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
_SKIPPED = re.compile(r"(?:\s|--[^\r\n\x00]*(?:\r?\n|\Z)|/\*(?:(?!\*/|/\*)[^\x00])*\*/)*")

# sqlglot warns of what it cannot parse, which is refused here in our own words; nothing else is to be printed
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def parse(text: str, dialect: Dialect = DUCKDB) -> exp.Query:
    """Return the tree of the one query that `text` consists of."""
    if len(text) > MAX_LENGTH:
        raise QueryError(
            "the query is too long",
            found=f"{len(text):,} characters",
            accepted=f"at most {MAX_LENGTH:,}",
            hint="ask a shorter question; long lists belong in a table",
        )
    if (half := re.search("[\ud800-\udfff]", text)) is not None:
        line, column = line_and_column(text, half.start())
        found, hint = ascii(half[0]), "write the whole character, or leave it out"
        raise QueryError("half of a character is no text", line=line, column=column, found=found, hint=hint)
    grammar = Grammar.get_or_raise(dialect.grammar)
    tokens = _tokens(text, grammar)
    _begin_with_select(text, tokens)
    _pass_over_comments(text, tokens)
    _refuse_lookalikes(text, tokens)
    tokens = _one_statement(text, tokens)
    _refuse_deep_brackets(text, tokens)
    refuse_dropped(text, tokens, dialect.grammar)
    tree = _tree(text, tokens, grammar)
    _refuse_deep_trees(text, tree)
    return dialect.understood(tree, text)


def _tokens(text: str, grammar: Grammar) -> list[Token]:
    try:
        tokens = list(grammar.tokenize(text))
    except (SqlglotError, RecursionError, ValueError, IndexError):
        opened = re.search("""['"]""", _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text))
        place = (opened.start(), len(text) - 1) if opened else None
        hint = "look for a quote that is opened and never closed"
        raise refusal("the text cannot be split into words", text, place, hint=hint) from None
    if not tokens:
        raise QueryError("the query is empty", hint="write SELECT COUNT(*) FROM a_table")
    return tokens


def _begin_with_select(text: str, tokens: Sequence[Token]) -> None:
    first = tokens[0]
    if first.token_type not in (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM):
        raise refusal(
            "only a SELECT is answered",
            text,
            (first.start, first.end),
            hint="write SELECT COUNT(*) FROM … or SELECT SUM(x) FROM …",
        )


def _pass_over_comments(text: str, tokens: Sequence[Token]) -> None:
    """Refuse anything between the words but white space and comments that every parser skips alike."""
    end = 0
    for start, following in [*((token.start, token.end + 1) for token in tokens), (len(text), 0)]:
        gap = text[end:start]
        if gap and not _SKIPPED.fullmatch(gap):
            first = end + len(gap) - len(gap.lstrip())
            last = end + len(gap.rstrip()) - 1
            hint = "write -- up to the end of a line, or /* … */ without another inside"
            raise refusal("this comment is not read", text, (first, last), hint=hint)
        end = max(end, following)


def _refuse_lookalikes(text: str, tokens: Sequence[Token]) -> None:
    """Refuse words of the language with a letter that one parser folds to a plain one, such as ſ in ſUM.

    In a name such a letter is itself.
    """
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        word = text[token.start : token.end + 1]
        called = following is not None and following.token_type is TokenType.L_PAREN
        if word.isascii() or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        odd = [x for x in word if not x.isascii() and (x.upper().isascii() or x.lower().isascii())]
        if odd and (called or token.token_type is not TokenType.VAR):
            problem, place = f"the letter {odd[0]} looks like another", (token.start, token.end)
            raise refusal(problem, text, place, hint="write a plain letter")


def _one_statement(text: str, tokens: list[Token]) -> list[Token]:
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            raise refusal(
                "several statements", text, (token.start, len(text) - 1), hint="ask one question at a time"
            )
    return tokens


def _refuse_deep_brackets(text: str, tokens: Sequence[Token]) -> None:
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > MAX_NESTING:
            raise refusal(
                "the query is nested too deeply",
                text,
                (token.start, token.end),
                accepted=f"{MAX_NESTING} levels of brackets",
                hint="leave out brackets that change nothing",
            )


def _tree(text: str, tokens: list[Token], grammar: Grammar) -> exp.Query:
    try:
        trees = grammar.parser().parse(tokens, text)
    except ParseError as error:
        raise _syntax_error(error) from None
    except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError, KeyError, IndexError):
        # sqlglot trips over some malformed texts; whatever it was, the query was not understood
        raise QueryError("the query is not understood", hint="write it more simply") from None
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Query):
        place = (tokens[0].start, tokens[-1].end)
        raise refusal("only a SELECT is answered", text, place, hint="write SELECT COUNT(*) FROM …")
    for node in tree.walk():  # or two spellings of one thing would differ by what somebody remarked on one
        node.pop_comments()
    for node in list(tree.find_all(exp.Initcap)):
        node.replace(_as_written(node))
    for call in list(tree.find_all(exp.Anonymous)):
        if fold(call.name) in OUR_AGGREGATES:
            call.replace(_as_aggregate(call))
    for made in list(tree.find_all(exp.Anonymous, exp.UnixToTime)):
        if (moment := _moment(made)) is not None:
            made.replace(moment)
    shorten(tree)
    return tree


def _moment(call: exp.Expr) -> exp.Cast | None:
    """Return TO_DATE or TO_TIMESTAMP of a constant, as tools write it for PostgreSQL: the moment itself."""
    name = "to_timestamp" if isinstance(call, exp.UnixToTime) else fold(call.name)
    parts = call.expressions or [call.this, call.args.get("scale")]
    said = tuple(part.this for part in parts if isinstance(part, exp.Literal) and part.is_string)
    kind, form, spelling = MOMENTS.get(name, ("", "", ""))
    if len(said) != 2 or said[1] != form or not re.fullmatch(spelling, said[0]):
        return None
    moment = exp.Cast(this=parts[0].copy(), to=exp.DataType.build(kind))
    moment.meta.update(call.meta)
    return moment


def _as_aggregate(call: exp.Anonymous) -> exp.AnonymousAggFunc:
    """Return a call of an aggregate that no engine has as one."""
    found = exp.AnonymousAggFunc(this=call.name, expressions=call.expressions)
    found.meta.update(call.meta)
    return found


def _as_written(node: exp.Initcap) -> exp.Anonymous:
    """Return initcap(x) as a plain call: sqlglot would write it out for DuckDB, which has none."""
    plain = exp.Anonymous(this="initcap", expressions=[node.this] if node.this else [])
    plain.meta.update(node.meta)
    return plain


def _syntax_error(error: ParseError) -> QueryError:
    detail = error.errors[0] if error.errors else {}
    highlight = detail.get("highlight") or ""
    line, column = detail.get("line"), detail.get("col")
    where = (line, max(1, column - len(highlight) + 1)) if line and column else (None, None)
    return QueryError(
        "the query is not valid SQL",
        line=where[0],
        column=where[1],
        found=highlight or None,
        hint="something is missing or misspelled here",
    )


def _refuse_deep_trees(text: str, tree: exp.Expr) -> None:
    """Bound the tree's depth for the passes that descend it; a chain of one connective counts once."""
    stack: list[tuple[exp.Expr, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise refusal(
                "the query is nested too deeply",
                text,
                span(node, text),
                accepted=f"{MAX_DEPTH} levels",
                hint="split a long sum or concatenation with parentheses",
            )
        for child in node.iter_expressions():
            chained = isinstance(node, exp.And | exp.Or) and type(child) is type(node)
            stack.append((child, depth if chained else depth + 1))
