"""Progress for people: in notebooks and terminals, and nothing if no person is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from sprifed._arguments import refused


def _is_interactive() -> bool:
    """Whether this is a notebook, or standard error a terminal."""
    if "ipykernel" in sys.modules:
        return True
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def watching(progress: Any, what: str):
    """Yield ``watch(done, total)`` for the core, or None.

    ``progress`` is a callable of the same arguments, True for a bar, False for silence, or None for a
    bar in a terminal or notebook. A bar needs tqdm; without it there is silence.
    """
    if callable(progress):
        yield progress
        return
    if progress is not None and not isinstance(progress, bool):
        raise refused("progress", progress, "a callable of (done, total), True, False or None")
    if progress is False or (progress is None and not _is_interactive()):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar = tqdm(desc=what, leave=False)

    def watch(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield watch
    finally:
        bar.close()


def counting(watch: Callable[[int, int], None] | None, total: int) -> Callable[[], None] | None:
    """The same for work that says only that one more part is done."""
    if watch is None:
        return None
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        watch(done, max(total, done))

    return one_more
