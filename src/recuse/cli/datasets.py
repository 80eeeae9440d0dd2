"""`recuse datasets`: public graphs, and where they live."""

from __future__ import annotations

import json

import typer

from recuse.cli.options import AsJson
from recuse.graphs.datasets import DATASETS, kept_in


def datasets(json_output: AsJson = False) -> None:
    """Name the public graphs that recuse graph can fetch, and where they live."""
    for name, dataset in DATASETS.items():
        here = (kept_in() / dataset.file).exists()
        if json_output:
            typer.echo(
                json.dumps({"name": name, "about": dataset.about, "home": dataset.home, "fetched": here})
            )
        else:
            typer.echo(f"{name:<14} {dataset.about:<42} {dataset.home}{'  (here)' if here else ''}")
    if not json_output:
        typer.echo(f"recuse graph count NAME fetches a missing one into {kept_in()}")
