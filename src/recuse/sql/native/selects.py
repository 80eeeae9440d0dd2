"""One SELECT that is run as it is: outputs, groups, windows, DISTINCT, ORDER BY and LIMIT, typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold, same
from recuse.sql.elaborate import Elaborator, Lookup
from recuse.sql.native.calls import calls
from recuse.sql.native.expressions import NativeExpressions, conjuncts, with_aliases
from recuse.sql.native.items import From
from recuse.sql.native.steps import steps_of
from recuse.sql.native.tree import NativeQuery, NativeSelect, Sorting
from recuse.sql.native.united import united
from recuse.sql.position import clause_span, placed, refusal, span
from recuse.sql.query import Output, Scalar
from recuse.sql.refuse import READ, refuse_clauses
from recuse.sql.rollup import grouping_sets, has_sets

CLAUSES = READ | {"group", "having", "qualify", "windows", "distinct", "order", "limit", "offset"}
MOST_ROWS = 10**15
PLAIN = "list what is grouped by, and ask once for each list"


@dataclass(slots=True)
class SelectReader:
    """The reader of one SELECT whose FROM has been read."""

    tree: exp.Select
    rows: From
    reader: NativeExpressions
    text: str

    def read(self) -> NativeQuery:
        """Return the SELECT, or several where it has several sets of keys; or refuse it."""
        tree, reader = self.tree, self.reader
        refuse_clauses(tree, self.text, CLAUSES)
        listed = [(output, node) for node in tree.expressions for output in self._listed(node)]
        shown = [(output.name, output.value) for output, node in listed if _has_name(node)]
        named = with_aliases(reader, shown)
        where = tree.args.get("where")
        conditions = named.conditions(None if where is None else where.this)
        outputs = tuple(output for output, _ in listed)
        having = self._conjuncts("having", named)
        qualify = self._conjuncts("qualify", named)
        order = self._order(tree.args.get("order"), outputs, named)
        once = tree.args.get("distinct")
        once_by = self._once_by(once, outputs, named)
        scalars = [*(output.value for output in outputs), *having, *qualify, *(one.value for one in order)]
        keys = self._keys(outputs, named, scalars)
        sets = self._sets(outputs, named)
        self._refuse_foreign_aggregates(scalars)
        found = NativeSelect(
            items=self.rows.items,
            outputs=outputs,
            types=(),
            where=conditions,
            keys=keys,
            having=having,
            qualify=qualify,
            distinct=once is not None and not once_by,
            once_by=once_by,
            order=order,
            limit=self._limit(tree.args.get("limit")),
            offset=self._count(tree.args.get("offset")) or 0,
        )
        if sets is None:
            return self._typed(found)
        every = tuple({key: None for one in sets for key in one})
        several = united(replace(found, keys=every), sets, self._typed)
        if several is None:
            raise self._other_form(tree.args["group"])
        return several

    def _typed(self, found: NativeSelect) -> NativeSelect:
        steps = steps_of(found, self.rows.around, self._elaborator)
        elaborator = self._elaborator(steps.last)
        types = tuple(elaborator.expression(output.value).type for output in steps.shown.outputs)
        for part in steps.having:
            self._elaborator(steps.grouped).condition(part)
        for part in steps.shown.qualify:
            elaborator.condition(part)
        for value in [*(one.value for one in steps.shown.order), *steps.shown.once_by]:
            elaborator.expression(value)
        return replace(found, types=types)

    def _elaborator(self, lookup: Lookup) -> Elaborator:
        return self.reader.elaborator(lookup)

    # -------------------------------------------------------------- SELECT list

    def _listed(self, node: exp.Expr) -> Iterator[Output]:
        if node.is_star and isinstance(node, exp.Star | exp.Column):
            yield from self._star(node)
            return
        position = self.tree.expressions.index(node)
        earlier = [one for one in self.tree.expressions[:position] if one.alias]
        known = {fold(one.alias): one for one in earlier}
        value = self._lateral(node.unalias(), known)
        inner = node.unalias()
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else f"column{position + 1}")
        yield Output(name, value)

    def _lateral(self, node: exp.Expr, known: dict[str, exp.Expr]) -> Scalar:
        """Return an output, in which the names of outputs before it may stand."""
        meant: dict[str, Scalar] = {}
        for part in node.find_all(exp.Column):
            other = known.get(fold(part.name)) if not part.table else None
            if other is not None and not self.rows.scope.alone(part.name):
                before = {k: v for k, v in known.items() if k != fold(part.name)}
                meant[fold(part.name)] = self._lateral(other.unalias(), before)
        return replace(self.reader, aliases=meant).value(node)

    def _star(self, node: exp.Expr) -> Iterator[Output]:
        star = node if isinstance(node, exp.Star) else node.this
        held = {key for key, value in star.args.items() if value}
        if held - {"except_", "replace"}:
            raise self._refuse("this form of * is not accepted", node, "name the columns")
        scope = self.rows.scope
        if isinstance(node, exp.Star):
            columns: Sequence[tuple[str, Scalar]] = scope.star()
        else:
            entry = scope.entry(node.args["table"].name)
            if entry is None:
                names = ", ".join(one.name for one in scope.entries) or "none"
                problem = f"no table in FROM is called {node.args['table'].name}"
                raise self._refuse(problem, node, f"there: {names}")
            columns = entry.columns
        dropped = {fold(one.name) for one in star.args.get("except_") or ()}
        changed = {fold(one.alias): one.this for one in star.args.get("replace") or ()}
        for name in dropped | set(changed):
            if not any(same(name, known) for known, _ in columns):
                raise self._refuse(f"* has no column {name}", node, "name the columns")
        place = span(node, self.text)
        for name, value in columns:
            if fold(name) in changed:
                yield Output(name, self.reader.value(changed[fold(name)]))
            elif fold(name) not in dropped:
                yield Output(name, placed(value, place))

    # -------------------------------------------------------------- GROUP BY

    def _keys(
        self, outputs: Sequence[Output], named: NativeExpressions, scalars: Sequence[Scalar]
    ) -> tuple[Scalar, ...] | None:
        group = self.tree.args.get("group")
        aggregated = any(True for scalar in scalars for _ in calls(scalar))
        if group is None:
            return () if aggregated or self.tree.args.get("having") is not None else None
        held = {key for key, value in group.args.items() if value}
        if held == {"all"}:
            return tuple(output.value for output in outputs if not any(True for _ in calls(output.value)))
        if held != {"expressions"}:
            raise self._other_form(group)
        return () if has_sets(group) else self._listed_keys(group.expressions, outputs, named)

    def _sets(self, outputs: Sequence[Output], named: NativeExpressions) -> list[tuple[Scalar, ...]] | None:
        """Return the keys of every set, if there are several."""
        group = self.tree.args.get("group")
        if group is None or not has_sets(group):
            return None
        found = grouping_sets(group)
        if found is None:
            raise self._other_form(group)
        return [self._listed_keys(one, outputs, named) for one in found]

    def _other_form(self, group: exp.Group) -> QueryError:
        place = clause_span(group, "GROUP BY", self.text)
        return refusal("this form of GROUP BY is not accepted", self.text, place, hint=PLAIN)

    def _listed_keys(
        self, nodes: Sequence[exp.Expr], outputs: Sequence[Output], named: NativeExpressions
    ) -> tuple[Scalar, ...]:
        keys: list[Scalar] = []
        for node in nodes:
            key = self._meant(node, outputs) or named.value(node)
            for part in [*calls(key), *key.find_all(exp.Window)]:
                raise self._refuse("a key of GROUP BY is no aggregate", part, "group by a column")
            named.elaborator().expression(key)
            if key not in keys:
                keys.append(key)
        return tuple(keys)

    def _meant(self, node: exp.Expr, outputs: Sequence[Output]) -> Scalar | None:
        """Return the output that a position stands for."""
        if not isinstance(node, exp.Literal) or node.is_string or not node.name.isdigit():
            return None
        place = int(node.name)
        if not 1 <= place <= len(outputs):
            raise self._refuse(f"there is no column {place}", node, f"there are {len(outputs)}")
        return outputs[place - 1].value

    def _refuse_foreign_aggregates(self, scalars: Sequence[Scalar]) -> None:
        """Refuse an aggregate over nothing but the rows around: it would be theirs."""
        own = {item.alias for item in self.rows.items}
        for scalar in scalars:
            for call in calls(scalar):
                used = {part.table for part in call.find_all(exp.Column)}
                if used and not used & own:
                    hint = "aggregate it where its rows are"
                    raise self._refuse("this aggregate belongs to the query around", call, hint)

    def _conjuncts(self, clause: str, named: NativeExpressions) -> tuple[Scalar, ...]:
        node = self.tree.args.get(clause)
        return () if node is None else conjuncts(named.value(node.this))

    # -------------------------------------------------------------- ORDER BY, LIMIT

    def _order(
        self, order: exp.Order | None, outputs: Sequence[Output], named: NativeExpressions
    ) -> tuple[Sorting, ...]:
        found: list[Sorting] = []
        for item in order.expressions if order is not None else ():
            for value in self._ordered(item.this, outputs, named):
                found.append(Sorting(value, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
        if self.tree.args.get("distinct") is not None and not self.tree.args["distinct"].args.get("on"):
            shown = [output.value.unnest() for output in outputs]
            for sorting in found:
                if sorting.value.unnest() not in shown:
                    raise self._refuse(
                        "DISTINCT is ordered by what it selects", sorting.value, "select it too"
                    )
        return tuple(found)

    def _ordered(
        self, node: exp.Expr, outputs: Sequence[Output], named: NativeExpressions
    ) -> Iterator[Scalar]:
        if isinstance(node, exp.Var) and fold(node.name) == "all":
            yield from (output.value for output in outputs)
            return
        meant = self._meant(node, outputs)
        if meant is None and isinstance(node, exp.Column) and not node.table:
            meant = next((output.value for output in outputs if same(output.name, node.name)), None)
        yield named.value(node) if meant is None else placed(meant, span(node, self.text))

    def _once_by(
        self, once: exp.Distinct | None, outputs: Sequence[Output], named: NativeExpressions
    ) -> tuple[Scalar, ...]:
        on = None if once is None else once.args.get("on")
        if on is None:
            return ()
        nodes = on.expressions if isinstance(on, exp.Tuple) else [on.unnest()]
        return tuple(self._meant(node, outputs) or named.value(node) for node in nodes)

    def _limit(self, node: exp.Expr | None) -> int | None:
        if isinstance(node, exp.Fetch):
            options = node.args.get("limit_options")
            if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
                raise self._refuse("this form of FETCH is not accepted", node, "write LIMIT 10")
            return self._number(node.args.get("count") or exp.Literal.number(1), node)
        return self._count(node)

    def _count(self, node: exp.Expr | None) -> int | None:
        if node is None:
            return None
        if {key for key, value in node.args.items() if value} - {"expression"}:
            raise self._refuse("this form of LIMIT is not accepted", node, "write LIMIT 10")
        return self._number(node.expression, node)

    def _number(self, value: exp.Expr, node: exp.Expr) -> int:
        plain = value.unnest()
        counted = isinstance(plain, exp.Literal) and not plain.is_string and plain.name.isdigit()
        if counted and int(plain.name) <= MOST_ROWS:
            return int(plain.name)
        raise self._refuse("how many rows are kept is written down", node, "write LIMIT 10")

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint)


def _has_name(node: exp.Expr) -> bool:
    return bool(node.alias)
