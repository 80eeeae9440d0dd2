"""Counts for the custodian's monitoring, on a port of their own. No times, no questions, no values."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recuse.ledger import Balance
from recuse.server.service import Service

NAMES = {
    "charged": "questions that were charged",
    "stored": "questions that had been answered before",
    "refused": "questions that were refused",
    "unanswered": "questions that were charged and not answered",
    "sign_ins_failed": "sign-ins that failed",
}


class Gauges(Collector):
    """What the services count, as Prometheus has it."""

    def __init__(self, services: Mapping[str, Service]) -> None:
        self.services = services
        self.balances: dict[str, Balance] = {}

    def collect(self) -> list[Metric]:
        """Return every count of every dataset."""
        found: list[Metric] = []
        for name, words in NAMES.items():
            gauge = GaugeMetricFamily(f"recuse_{name}", words, labels=["dataset"])
            for dataset, service in self.services.items():
                gauge.add_metric([dataset], getattr(service.counts, name))
            found.append(gauge)
        for name, words in (
            ("waiting", "questions that wait"),
            ("exceeded", "answers after their first slot"),
        ):
            gauge = GaugeMetricFamily(f"recuse_{name}", words, labels=["dataset"])
            for dataset, service in self.services.items():
                gauge.add_metric([dataset], getattr(service.seats, name))
            found.append(gauge)
        left = GaugeMetricFamily("recuse_epsilon_left", "what the database has left", labels=["dataset"])
        spent = GaugeMetricFamily(
            "recuse_epsilon_spent", "which part is spent, from 0 to 1", labels=["dataset"]
        )
        for dataset, balance in self.balances.items():
            left.add_metric([dataset], float(balance.remaining))
            spent.add_metric([dataset], float(balance.spent / balance.granted))
        return [*found, left, spent]


def metrics(services: Mapping[str, Service]) -> Starlette:
    """Return an application that shows the counts."""
    registry, gauges = CollectorRegistry(), Gauges(services)
    registry.register(gauges)

    async def shown(_: Request) -> Response:
        for name, service in services.items():
            gauges.balances[name] = await service.book.balance()
        return Response(generate_latest(registry), media_type="text/plain; version=0.0.4")

    return Starlette(routes=[Route("/metrics", shown)])
