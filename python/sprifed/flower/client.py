"""The ClientApp: one party at its own node.

Flower starts a process for each message. It answers one request of the coordinator and ends. Everything
that must outlive it is in the party's own state folder, sealed, and never in Flower's context.

Flower sends the text of an exception to the SuperLink, and it may name files or repeat cells of the table. So no
exception leaves: the coordinator is told in fixed words, and the node's own log has the rest.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from flwr.app import ConfigRecord, Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode

from sprifed._core import PartyMachine

RECORD = "sprifed"
"""The name of our record in a message of Flower."""

LOG = logging.getLogger("sprifed")
"""The log of this node, which Flower does not send anywhere."""

FAILED = "this party could not answer; the log of its node says why"
"""All that the coordinator is told of a failure."""

LEDGER = "SPRIFED_LEDGER"
"""The environment variable that names the folder of the ledger, for every runtime."""

STATE_KEY = "SPRIFED_STATE_KEY"
"""The environment variable with which an operator gives the key of the sealed state."""


@dataclass(frozen=True)
class NodeSettings:
    """Where a party has its things."""

    identity: Path
    data: Path
    state: Path
    simulate_noise: int | None = None
    ledger: Path | None = None

    @classmethod
    def of(cls, context: Context) -> "NodeSettings":
        """What the node's operator configured.

        Paths come from the node's own configuration. Only in the simulation engine, which gives a node
        nothing but a number, they come from the run; such a party has a seed and therefore refuses
        every study whose noise is meant to protect records.
        """
        node = context.node_config
        if "identity" in node:
            identity = Path(_text(node, "identity"))
            seed = node.get("simulate-noise")
            ledger = node.get("ledger") or os.environ.get(LEDGER)
            return cls(
                identity=identity,
                data=Path(_text(node, "data")),
                state=Path(str(node.get("state", identity / "flower"))),
                simulate_noise=None if seed is None else int(seed),
                ledger=Path(str(ledger)) if ledger else None,
            )
        if "partition-id" not in node or not context.run_config.get("rehearsal-folder"):
            raise ValueError(
                "the node configuration has no `identity`; configure this SuperNode with "
                'identity="FOLDER" and data="TABLE"'
            )
        folder = Path(_text(context.run_config, "rehearsal-folder"))
        party = folder / "parties" / str(node["partition-id"])
        return cls(
            identity=party,
            data=party / "data.csv",
            state=party / "flower",
            simulate_noise=int(context.run_config["rehearsal-seed"]),
        )

    def machine(self) -> PartyMachine:
        """The party."""
        return PartyMachine(
            self.identity,
            self.state,
            self.data,
            ledger=self.ledger,
            state_key=os.environ.get(STATE_KEY),
            simulate_noise=self.simulate_noise,
        )


def _text(configuration, key: str) -> str:
    value = configuration.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"the node configuration says {key} = {value!r}; a path is required")
    return value


app = ClientApp()


@app.query()
def answer(message: Message, context: Context) -> Message:
    """Answers one request, or says in fixed words that it cannot."""
    try:
        request = message.content[RECORD]["request"]
        said = NodeSettings.of(context).machine().answer(request, context.node_id)
    except Exception:
        LOG.exception("this party could not answer")
        code = ErrorCode.CLIENT_APP_RAISED_EXCEPTION
        return Message(Error(code, FAILED), reply_to=message)
    record = ConfigRecord({"answer": said})
    return Message(RecordDict({RECORD: record}), reply_to=message)
