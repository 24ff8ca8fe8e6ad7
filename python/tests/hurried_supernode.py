"""`flower-supernode` with short waits and quick starts, for tests: most of a deployment is waiting and importing.

Flower has no options for these. Everything else is Flower's own code, of the pinned version. Its commands run in
processes of their own, as always. They are forks of one process that has imported Flower: a process that imports it
anew spends 1.6 CPU seconds on that, for every message to every node.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

from flwr.supercore import heartbeat
from flwr.supercore.cli import flower_superexec
from flwr.supercore.superexec.executor import subprocess_executor
from flwr.supernode import fleet_http_connection, start_client_internal
from flwr.supernode.cli import flower_supernode, flwr_clientapp

LOOK_SECONDS = 0.5
"""The longest wait between two looks for work, or for an answer of the ClientApp; Flower's own: 3 and 0.5."""

HEARTBEAT_SECONDS = 15
"""The promised time between two heartbeats; a node is gone after twice this. Flower's own: 30, at least 10."""

COMMANDS = {"flower-superexec": flower_superexec, "flwr-clientapp": flwr_clientapp}
"""What a node starts."""


def hurry() -> None:
    """Shortens the waits; fails where this is not the version of Flower that was read."""
    for module in (heartbeat, fleet_http_connection):
        if module.HEARTBEAT_DEFAULT_INTERVAL != 30:
            sys.exit(f"{module.__name__} has another heartbeat than that of Flower 1.41.0")
        module.HEARTBEAT_DEFAULT_INTERVAL = HEARTBEAT_SECONDS
    if start_client_internal.time is not time:
        sys.exit(f"{start_client_internal.__name__} waits otherwise than that of Flower 1.41.0")
    start_client_internal.time = SimpleNamespace(
        sleep=lambda seconds: time.sleep(min(seconds, LOOK_SECONDS))
    )


def fork_commands() -> None:
    """Lets a fork of this process, which has only imported modules, start the commands of the node."""
    for module in (start_client_internal, subprocess_executor):
        if module.subprocess is not subprocess:
            sys.exit(f"{module.__name__} starts processes otherwise than that of Flower 1.41.0")
    wanted, ask = os.pipe()

    def start(command: list[str]) -> None:
        if command[0] not in COMMANDS:
            sys.exit(f"Flower 1.41.0 does not start {command[0]} in a node")
        # One write of less than a page is not mixed with those of others.
        os.write(ask, json.dumps(command).encode() + b"\n")

    for module in (start_client_internal, subprocess_executor):
        module.subprocess = SimpleNamespace(Popen=start)
    node = os.getpid()
    if os.fork() == 0:
        serve(wanted, node)


def serve(wanted: int, node: int) -> None:
    """Starts a process for each command that is written to the pipe, until the node is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    unread = b""
    while os.getppid() == node:
        if not select.select([wanted], [], [], 1)[0]:
            continue
        *lines, unread = (unread + os.read(wanted, 65536)).split(b"\n")
        for line in lines:
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                sys.argv = json.loads(line)
                sys.exit(COMMANDS[sys.argv[0]]())
    os._exit(0)


if __name__ == "__main__":
    hurry()
    fork_commands()
    sys.exit(flower_supernode())
