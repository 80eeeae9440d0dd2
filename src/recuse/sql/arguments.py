"""Arguments that a parser drops: `quantile_cont(x, 0.5, 3)` must not be answered as `quantile_cont(x, 0.5)`.

sqlglot reads some functions by the places of their arguments, and forgets what stands behind. Whether it does
is tried, once for each function and number of arguments, on arguments that are easy to find again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sqlglot.dialects.dialect import Dialect as Grammar
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from recuse.fold import fold
from recuse.sql.position import refusal

MOST_TRIED = 12
"""arguments: a longer list stands behind IN, or is a call that is refused for other reasons"""

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


def refuse_dropped(text: str, tokens: Sequence[Token], grammar: str) -> None:
    """Refuse a call with more arguments than its parser keeps."""
    for place, count in _calls(tokens):
        word = fold(tokens[place].text)
        if count <= MOST_TRIED and word.isidentifier() and not _are_kept(word, count, grammar):
            kept = next(n for n in range(count, -1, -1) if _are_kept(word, n, grammar))
            raise refusal(
                f"{word} takes other arguments",
                text,
                (tokens[place].start, tokens[place].end),
                hint=f"write it with {kept} argument{'' if kept == 1 else 's'} at most",
            )


def _calls(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the places of words before brackets, with how many arguments stand there, ORDER BY left out."""
    open_calls: list[tuple[int, int, bool]] = []
    for place, token in enumerate(tokens):
        if token.token_type in _OPENING:
            empty = place + 1 < len(tokens) and tokens[place + 1].token_type in _CLOSING
            open_calls.append((place - 1, 0 if empty else 1, True))
        elif token.token_type in _CLOSING and open_calls:
            before, count, _ = open_calls.pop()
            if before >= 0 and token.token_type is TokenType.R_PAREN:
                yield before, count
        elif open_calls and token.token_type is TokenType.ORDER_BY:
            open_calls[-1] = (*open_calls[-1][:2], False)
        elif open_calls and token.token_type is TokenType.COMMA and open_calls[-1][2]:
            open_calls[-1] = (open_calls[-1][0], open_calls[-1][1] + 1, True)


@lru_cache(maxsize=4096)
def _are_kept(word: str, count: int, grammar: str) -> bool:
    """Return whether the tree of a call has all its arguments; True where it is no call."""
    told = {f"argument_{number}" for number in range(count)}
    try:
        (tree,) = Grammar.get_or_raise(grammar).parse(f"SELECT {word}({', '.join(sorted(told))})")
    except (SqlglotError, ValueError, AttributeError, TypeError, KeyError, IndexError):
        return True
    if tree is None:
        return True
    parts = (part for node in tree.walk() for part in node.args.values() if isinstance(part, str))
    return told <= {fold(part) for part in parts}
