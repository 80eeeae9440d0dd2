"""Groups of commands that are imported when one of them is asked for, so that all others start quickly."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer.main
from typer.core import TyperGroup


def later(module: str) -> type[TyperGroup]:
    """Return the kind of a group whose commands are those of the module's `app`, imported on first use."""

    class Later(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            self._load()
            return super().list_commands(ctx)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            self._load()
            return super().get_command(ctx, cmd_name)

        def _load(self) -> None:
            if not self.commands:
                self.commands.update(typer.main.get_group(import_module(module).app).commands)

    return Later
