"""[[domain]] by query: what public tables return, compiled as a question about nobody."""

from __future__ import annotations

from recuse.errors import PolicyError, QueryError
from recuse.fold import fold
from recuse.policy import Policy
from recuse.policy.terms import Domain, DomainQuery
from recuse.sql.met import Met
from recuse.sql.native.question import PublicQuery, public_query
from recuse.sql.parse import parse
from recuse.sql.schema import Schema


def domain_queries(policy: Policy, schema: Schema) -> dict[tuple[str, str], PublicQuery]:
    """Return the queries that state domains, by (table, column) in lower case; or refuse one.

    Guarantee: they look at public tables alone.
    """
    return {
        (fold(domain.table), fold(domain.column)): _query(domain, domain.values.text, schema)
        for domain in policy.domains
        if isinstance(domain.values, DomainQuery)
    }


def _query(domain: Domain, text: str, schema: Schema) -> PublicQuery:
    inner = Schema(schema.catalogue, schema.ownership, schema.granularity, text)
    try:
        found = public_query(parse(text, schema.catalogue.dialect), inner, Met(inner))
    except QueryError as error:
        raise _refused(domain, error.problem) from None
    if found is None:
        raise _refused(domain, "it is about somebody, or not understood")
    if len(found.names) != 1:
        raise _refused(domain, f"it returns {len(found.names)} columns")
    return found


def _refused(domain: Domain, problem: str) -> PolicyError:
    return PolicyError(
        f"the query of the domain of {domain} cannot be used: {problem}",
        line=domain.line,
        accepted="a SELECT of one column from [[public]] tables",
        hint='query = "SELECT n_name FROM nation"',
    )
