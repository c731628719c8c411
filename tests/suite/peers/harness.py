"""Runs the checks against a client, prints one line each, and watches how the server ends."""

import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple

import anyio
from checks import CHECKS, EXIT, LEAVE, Client, Peer, Unexpected, expect
from mcp.client import stdio

REQUEST_SECONDS = 20
"""For each request; far above what a loaded machine needs."""

SCRIPT_SECONDS = 150
"""For all checks, below the 180 s after which the test suite kills the script."""

EXIT_SECONDS = 5
"""How long a server may take to exit when its input ends."""


class Lifecycle(NamedTuple):
    """The settings of the client, and the protocol version that it must negotiate."""

    mode: str
    version: str


LIFECYCLES = {"stateful": Lifecycle("legacy", "2025-11-25"), "stateless": Lifecycle("auto", "2026-07-28")}
"""`auto` is the default of the SDK. It falls back silently, which the check of the version detects."""


class Server(NamedTuple):
    """Where the server is: the URL of one that runs, or the command that starts one."""

    url: str | None
    command: str = ""
    args: tuple[str, ...] = ()


Connect = Callable[[Server, str], AbstractAsyncContextManager[Client]]
"""A client of a server, in a mode."""


class Report:
    """Prints one line for each check and counts them."""

    def __init__(self):
        self.passed = self.failed = 0
        self.current = ""

    async def run(self, name: str, checked: Awaitable[None]):
        """Anything that a check raises is its failure; only being cancelled is not."""
        self.current = name
        try:
            await checked
        except Exception as error:
            self.fail(name, error)
        else:
            self.succeed(name)

    def succeed(self, name: str):
        self.passed += 1
        print(f"ok - {name}", flush=True)

    def fail(self, name: str, error: Exception):
        self.failed += 1
        print(f"not ok - {name}: {describe(error)}", flush=True)


def describe(error: BaseException) -> str:
    """One line; a task group wraps what was raised in it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    seen = str(error) if isinstance(error, Unexpected) else f"{type(error).__name__}: {error}"
    return seen.replace("\n", "\\n")


class Servers:
    """Records the processes that the SDK starts, since the SDK exposes neither their ids nor their exit codes."""

    def __init__(self):
        self.started = []
        spawn = stdio._create_platform_compatible_process

        async def remember(*args, **options):
            self.started.append(await spawn(*args, **options))
            return self.started[-1]

        stdio._create_platform_compatible_process = remember

    async def expect_clean_exit(self, since: float):
        """The SDK sends SIGTERM some time after the end of input: a server that waits for it has not left by itself."""
        taken = time.monotonic() - since
        codes = [process.returncode for process in self.started]
        by_themselves = taken < min(EXIT_SECONDS, stdio.PROCESS_TERMINATION_TIMEOUT)
        expect(codes == [0] and by_themselves, f"exit codes {codes} after {taken:.1f} s")


async def run(connect: Connect, lifecycle: Lifecycle, server: Server) -> Report:
    """All checks over one connection, then its end. A connection that fails is the failure of the check under way."""
    report, servers = Report(), Servers()
    report.current = next(iter(CHECKS))
    closed = time.monotonic()
    try:
        with anyio.fail_after(SCRIPT_SECONDS):
            async with connect(server, lifecycle.mode) as client:
                peer = Peer(client, lifecycle.version)
                try:
                    for name, check in CHECKS.items():
                        await report.run(name, check(peer))
                finally:
                    closed = time.monotonic()
                    report.current = LEAVE
    except Exception as error:
        report.fail(report.current, error)
    else:
        if server.url:
            report.succeed(LEAVE)
    if not server.url:
        await report.run(EXIT, servers.expect_clean_exit(closed))
    return report


def main(connect: Connect):
    """Runs the script: stateful|stateless (URL | -- CMD ARGS...)."""
    match sys.argv[1:]:
        case [lifecycle, "--", command, *args] if lifecycle in LIFECYCLES:
            server = Server(None, command, tuple(args))
        case [lifecycle, url] if lifecycle in LIFECYCLES and url.startswith("http"):
            server = Server(url)
        case _:
            print(f"usage: python {sys.argv[0]} stateful|stateless (URL | -- CMD ARGS...)", file=sys.stderr)
            sys.exit(2)
    report = anyio.run(run, connect, LIFECYCLES[lifecycle], server)
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(1 if report.failed else 0)
