"""Options that several commands share, as one value: a dataclass each of whose fields is an option."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from inspect import Parameter, signature
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of its bundles one by one, where each bundle stands.

    A bundle may hold others.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Paper:
    ...     width: int = 21
    ...     lined: bool = False
    >>> def order(sheets: int, paper: Paper) -> None:
    ...     print(sheets, paper)
    >>> list(signature(spread(order)).parameters)
    ['sheets', 'width', 'lined']
    >>> spread(order)(sheets=3, width=10, lined=True)
    3 Paper(width=10, lined=True)
    """

    def called(**given: Any) -> None:
        command(**_bundled(command, given))

    options = list(_options(command))
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__signature__ = signature(command).replace(parameters=options)  # type: ignore[attr-defined]
    called.__annotations__ = {option.name: option.annotation for option in options}
    return called


def _options(made: Callable[..., Any]) -> Iterator[Parameter]:
    """Yield what a command or a bundle takes, by name: then one without a default may stand anywhere."""
    kinds = get_type_hints(made, include_extras=True)
    for name, plain in signature(made).parameters.items():
        if is_dataclass(kinds[name]):
            yield from _options(kinds[name])
        else:
            yield plain.replace(kind=Parameter.KEYWORD_ONLY, annotation=kinds[name])


def _bundled(made: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command or a bundle, of options one by one."""
    kinds = get_type_hints(made, include_extras=True)
    return {
        name: kinds[name](**_bundled(kinds[name], given)) if is_dataclass(kinds[name]) else given[name]
        for name in signature(made).parameters
    }
