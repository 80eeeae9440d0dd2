"""The front process: starts the datasets and opens the doors, until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import ssl
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from recuse.errors import ParameterError
from recuse.ledger import Ledger, Role
from recuse.server.http.app import application
from recuse.server.http.connection import PATIENCE, HttpConnection
from recuse.server.metrics import metrics
from recuse.server.postgres.door import empty_databases, opened
from recuse.server.service import Service
from recuse.server.settings import Listen, Settings

LOG = logging.getLogger("recuse.server")
FIRST = "custodian"
"""whose the token is that an embedded server prints"""


class Door(uvicorn.Server):
    """uvicorn, which here does not catch signals: the front process does."""

    def install_signal_handlers(self) -> None:
        """Do nothing."""


async def run(settings: Settings, say: Callable[[str], None], *, token: bool = False) -> None:
    """Serve until SIGINT or SIGTERM; `say` is told what is open, and `token` prints one for a custodian."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_mistaken)
    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    async with AsyncExitStack() as stack:
        services = {dataset.name: Service(dataset, settings.answers) for dataset in settings.datasets}
        for name, service in services.items():
            stack.push_async_callback(service.stop)
            if await service.start():
                say(f"new ledger {service.book.place.path}")
            if token:
                say(f"{name}: a custodian's token, shown once: {await first_token(service)}")
        await _open_doors(settings, services, stack, say)
        say("ready")
        await stop.wait()


def _mistaken(_: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
    """Write down that something is a mistake of ours, and of which kind; its text may quote a question."""
    LOG.error("this is a mistake in recuse: %s", type(told.get("exception")).__name__)


async def first_token(service: Service) -> str:
    """Return a token for the custodian; those of earlier starts are revoked: nobody can see them again."""

    def make(ledger: Ledger) -> str:
        tokens = ledger.tokens()
        for old in tokens.all():
            if old.purpose == FIRST and old.revoked is None:
                tokens.revoke(old.id, who="recuse serve")
        return tokens.create(FIRST, Role.CUSTODIAN, FIRST, who="recuse serve")[1]

    return await service.book.do(make)


async def _open_doors(
    settings: Settings, services: Mapping[str, Service], stack: AsyncExitStack, say: Callable[[str], None]
) -> None:
    if settings.http is not None:
        secure = settings.http.key is not None
        await _serve(application(services, secure=secure), settings.http, stack)
        address = f"{'https' if secure else 'http'}://{settings.http.listen}"
        say(f"console at {address}/, HTTP at {address}/api/v1")
    if settings.postgres is not None:
        catalogues, version = empty_databases(services)
        for catalogue in catalogues.values():
            stack.push_async_callback(catalogue.stop)
        door = await opened(services, settings.postgres, catalogues, version)
        stack.callback(door.close)
        say(f"PostgreSQL at {settings.postgres.listen}, databases {', '.join(services)}")
    if settings.metrics is not None:
        await _serve(metrics(services), settings.metrics, stack)
        say(f"metrics at {settings.metrics.listen}")


async def _serve(app: ASGIApp, listen: Listen, stack: AsyncExitStack) -> None:
    """Serve an application in the background until the stack is closed."""
    host, port = listen.address()
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # a trace may quote what was sent
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_keep_alive=int(PATIENCE),
        http=HttpConnection,  # which has a limit of its own
        ws="none",
        lifespan="off",
        ssl_certfile=listen.certificate,
        ssl_keyfile=listen.key,
    )
    config.load()
    if config.ssl is not None:
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
    door = Door(config)
    serving = asyncio.ensure_future(door.serve())
    while not door.started:
        if serving.done():
            raise ParameterError("the door cannot be opened", found=listen.listen, hint="is the port in use?")
        await asyncio.sleep(0.02)

    async def close() -> None:
        door.should_exit = True
        await serving

    stack.push_async_callback(close)


def served(settings: Settings, say: Callable[[str], None], *, token: bool = False) -> None:
    """Run a server until it is stopped."""
    asyncio.run(run(settings, say, token=token))


def embedded(
    database: str, policy: Path, ledger: Path | None, listen: str, postgres: str, slot: float
) -> Settings:
    """Return the settings of a server of one dataset on this machine alone."""
    name = Path(database.rpartition("/")[2] or database).stem
    folder = Path.cwd()
    dataset = {"name": name, "database": database, "policy": str(policy)}
    if ledger is not None:
        dataset["ledger"] = str(ledger)
    doors = {"http": {"listen": listen}, "postgres": {"listen": postgres}}
    return Settings.of({"dataset": [dataset], "answers": {"slot": slot}, **doors}, folder)
