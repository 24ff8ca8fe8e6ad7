"""What a fit promises, as an object that prints as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Guarantee:
    """What a fit promises. ``str(guarantee)`` is the whole of it as a table of labelled rows.

    If the noise can be repeated (``simulate_noise``), ``epsilon`` is None: there is no guarantee, and
    ``nominal_epsilon`` is what it would be with secret noise.
    """

    mode: Literal["certified", "not-private"]
    unit: Literal["record", "client"]
    neighbours: Literal["zero-out", "replace-one"]
    epsilon: float | None
    delta: float
    mu: float | None
    rho: float
    slack: float
    nominal_epsilon: float | None
    client: dict[str, Any] | None
    backend: str
    trust: str
    provenance: str
    statement: str
    # How likely the protocol of secure sums fails: a part of delta.
    protocol_failure: float = 0.0

    def __str__(self) -> str:
        return self.statement

    @property
    def is_private(self) -> bool:
        """Whether there is a guarantee at all."""
        return self.mode == "certified"
