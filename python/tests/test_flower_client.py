"""The ClientApp: what leaves a node that fails, which Flower passes on to the coordinator."""

import time

import pytest

pytest.importorskip("flwr", reason="flwr==1.41.0 is not installed: no study over Flower is tested")

from by_hand import SMALL, Engine  # noqa: E402
from flwr.app import (  # noqa: E402
    ConfigRecord,
    Context,
    Message,
    MessageType,
    Metadata,
    RecordDict,
)

from sprifed.flower.client import FAILED, RECORD, NodeSettings, app  # noqa: E402


@pytest.fixture
def engine(tmp_path) -> Engine:
    return Engine(SMALL.write(tmp_path / "study"))


def context(configuration: dict, node: int = 100) -> Context:
    return Context(1, node, configuration, RecordDict(), {})


def of_party(engine: Engine, place: int) -> dict:
    home = engine.parties / str(place)
    return {"identity": str(home), "data": str(home / "data.csv"), "simulate-noise": SMALL.seed}


def reply_to(content: RecordDict, configuration: dict) -> Message:
    """What node 100 with this configuration replies, as Flower calls it."""
    metadata = Metadata(1, "1", 1, 100, "", "", time.time(), 600.0, MessageType.QUERY)
    return app(Message(content, metadata=metadata), context(configuration))


def tell(request: bytes, configuration: dict) -> Message:
    return reply_to(RecordDict({RECORD: ConfigRecord({"request": request})}), configuration)


def test_a_request_is_answered(engine):
    reply = tell(engine.request(0, [], known=False), of_party(engine, 0))
    answer = reply.content[RECORD]["answer"]
    assert engine.coordinator.open_answer(100, engine.number, answer)[0] == 0


def test_a_bad_cell_stays_at_its_node(engine, caplog):
    table = engine.parties / "0" / "data.csv"
    header, first, *rows = table.read_text().splitlines()
    table.write_text("\n".join([header, "sekret," + first.split(",", 1)[1], *rows]) + "\n")
    while engine.coordinator.phase()[0] != "upload":
        engine.run_phase()
    reply = tell(engine.request(0, engine.orders()[0]), of_party(engine, 0))
    sent = reply.error.reason.encode() if reply.has_error() else reply.content[RECORD]["answer"]
    assert not any(word in sent for word in [b"sekret", b"x0", str(engine.parties).encode()])
    assert "column `x0`, line 2: text where a number is required" in caplog.text


@pytest.mark.parametrize(
    "change",
    [
        {"identity": "/srv/sekret"},
        {"data": "/srv/sekret.csv"},
        {"data": 7},
        {"simulate-noise": "sekret"},
    ],
)
def test_a_node_that_fails_says_so_in_fixed_words(engine, change, caplog):
    reply = tell(engine.request(0, [], known=False), of_party(engine, 0) | change)
    assert reply.has_error() and reply.error.reason == FAILED
    (value,) = change.values()
    assert str(value) in caplog.text, "the log of the node has the details"


def test_a_damaged_state_is_told_in_fixed_words(engine, caplog):
    tell(engine.request(0, [], known=False), of_party(engine, 0))
    (sealed,) = (engine.parties / "0" / "flower").glob("study-*/party.sealed")
    sealed.write_bytes(b"sekret")
    reply = tell(engine.request(0, []), of_party(engine, 0))
    assert reply.error.reason == FAILED
    assert str(sealed) in caplog.text


def test_a_message_without_a_request_is_a_failure_in_fixed_words(engine):
    assert reply_to(RecordDict({}), of_party(engine, 0)).error.reason == FAILED


def test_a_node_without_an_identity_is_told_what_to_configure():
    with pytest.raises(ValueError, match="the node configuration has no `identity`") as refused:
        NodeSettings.of(context({}))
    assert "--" not in str(refused.value)


def test_no_refusal_of_a_ledger_names_an_option_of_a_command(engine):
    engine.exchange(0, [], known=False)
    table = engine.parties / "0" / "data.csv"
    settings = NodeSettings.of(context(of_party(engine, 1) | {"data": str(table)}))
    with pytest.raises(ValueError, match="is accounted for in the ledger of") as refused:
        settings.machine().answer(engine.request(1, [], known=False), 101)
    assert "--" not in str(refused.value)
