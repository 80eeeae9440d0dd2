"""What the site makes of a page (`hooks` of mkdocs.yml): a block that is a file has its name above it.

A fence that is left as text fails the build.
"""

from __future__ import annotations

import logging
import re

_FILE = re.compile(r"^```(\w+) ([^\s={]+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return a page in which ```toml shop.toml is a block of TOML with a title."""
    return _FILE.sub(r'```\1 title="\2"', markdown)


def on_page_content(html: str, page: object, **_: object) -> str:
    """Return the page as it is, and warn of a fence that a reader would see."""
    if "```" in html:
        logging.getLogger("mkdocs.hooks").warning("%s: a block of code is shown as text", page)
    return html
