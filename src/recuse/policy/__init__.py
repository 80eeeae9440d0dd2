"""Who is protected, and how rows belong to them: `Policy`, read from TOML or made in Python."""

from recuse.policy.engine import EngineLimits
from recuse.policy.policy import Policy
from recuse.policy.terms import (
    ColumnType,
    Domain,
    DomainQuery,
    DomainRange,
    Key,
    KeyItem,
    Link,
    NonNegative,
    Protect,
    Public,
    Typical,
)

__all__ = [
    "ColumnType",
    "Domain",
    "DomainQuery",
    "DomainRange",
    "EngineLimits",
    "Key",
    "KeyItem",
    "Link",
    "NonNegative",
    "Policy",
    "Protect",
    "Public",
    "Typical",
]
