"""The roles of a study as an engine sees them, with the test as the engine: no Flower, no network."""

import json
import sqlite3
from dataclasses import replace

import pytest
from by_hand import FEW_SUMS, SMALL, Engine
from make_rehearsal import write_private

from sprifed._core import PartyMachine, StudyError, simulated_identity


@pytest.fixture
def engine(tmp_path) -> Engine:
    return Engine(SMALL.write(tmp_path / "study"))


def test_a_study_by_messages_equals_the_study_in_one_process(engine):
    receipt = engine.run()
    assert engine.refusals == []
    assert receipt["fit"] == engine.in_one_process()
    assert {feature for feature, _ in receipt["fit"]["model"]["terms"]} == {4, 6}
    assert receipt["guarantee"]["statement"].startswith("Privacy   NOT PRIVATE")
    model = json.loads(dict(engine.coordinator.files())["model.json"])
    found = {term["name"]: term["coefficient"] for term in model["features"]}
    assert found["x4"] == pytest.approx(2.0, abs=0.3)
    assert found["x6"] == pytest.approx(-1.5, abs=0.3)


def test_a_party_that_lost_its_sealed_state_takes_no_part(engine):
    engine.exchange(0, [], known=False)
    (state,) = (engine.parties / "0" / "flower").glob("study-*/party.sealed")
    state.unlink()
    reports = engine.exchange(0, [], known=False)
    assert any(b"its state is gone" in report for report in reports)


def test_an_older_copy_of_the_sealed_state_is_noticed(engine):
    engine.exchange(0, [], known=False)
    (state,) = (engine.parties / "0" / "flower").glob("study-*/party.sealed")
    older = state.read_bytes()
    engine.exchange(0, [], known=False)
    state.write_bytes(older)
    with pytest.raises(StudyError, match="it is an older copy"):
        engine.exchange(0, [], known=False)


def test_a_party_that_signed_a_receipt_answers_no_coordinator_that_put_its_state_back(engine):
    for _ in range(2):
        engine.run_phase()
    engine.coordinator = None
    state = engine.folder / "state.sqlite"
    before = state.read_bytes()
    engine.restart_coordinator()
    for place in range(SMALL.parties):
        engine.coordinator.returned(place)
    # No party is asked anything, so the study ends, has cost nothing, and every party signs that.
    engine.orders()
    engine.coordinator.close_phase()
    for place, batch in engine.orders().items():
        engine.exchange(place, batch)
    engine.coordinator = None
    state.write_bytes(before)
    engine.restart_coordinator()
    for place in range(SMALL.parties):
        engine.coordinator.returned(place)
    for place, batch in engine.orders().items():
        answer = engine.party(place).answer(engine.request(place, batch), 100 + place)
        _, reports, refusals = engine.coordinator.open_answer(100 + place, engine.number, answer)
        assert reports == [] and "answers nothing more" in refusals[0]


def test_a_state_has_one_coordinator(engine):
    with pytest.raises(OSError, match="in use by another process"):
        engine.open_coordinator()


def test_a_coordinator_that_lost_its_state_does_not_begin_again(engine):
    engine.run_phase()
    engine.coordinator = None
    (engine.folder / "state.sqlite").unlink()
    with pytest.raises(StudyError, match="this study was begun before, but its state"):
        engine.open_coordinator()


def test_strangers_leave_nothing_on_the_disk(engine, tmp_path):
    other = replace(SMALL, seed=77)
    stranger = Engine(other.write(tmp_path / "other"), other)
    request = stranger.coordinator.request(100, 1, [], party=None)
    answer = engine.party(0).answer(request, 100)
    assert b"the study does not invite" in answer
    with pytest.raises(StudyError):
        engine.party(0).answer(bytes(len(request)), 100)
    assert not (engine.parties / "0" / "flower").exists()


def test_a_ledger_that_was_lost_or_cut_is_missed(engine):
    engine.exchange(0, [], known=False)
    home = engine.parties / "0"
    ledger, head = home / "ledger.sqlite", home / "ledger.head"
    whole, length = ledger.read_bytes(), head.read_bytes()
    ledger.unlink()
    with pytest.raises(StudyError, match="is gone"):
        engine.exchange(0, [], known=False)
    assert not ledger.exists()
    # Without the witness the folder of the study tells, as it does for `sprifed join`.
    head.unlink()
    with pytest.raises(StudyError, match="is gone, but this party has sent something"):
        engine.exchange(0, [], known=False)
    assert not ledger.exists()
    ledger.write_bytes(whole)
    with pytest.raises(StudyError, match="but ledger.head, which says how many"):
        engine.exchange(0, [], known=False)
    assert not head.exists()
    head.write_bytes(length)
    with sqlite3.connect(ledger) as connection:
        last = "number = (SELECT max(number) FROM entries)"
        assert connection.execute(f"DELETE FROM entries WHERE {last}").rowcount == 1
    with pytest.raises(StudyError, match="its end was cut off"):
        engine.exchange(0, [], known=False)
    ledger.write_bytes(whole)
    engine.exchange(0, [], known=False)


def test_a_study_that_was_begun_is_not_joined_again_with_a_restarted_ledger(engine, cli):
    engine.exchange(0, [], known=False)
    home = engine.parties / "0"
    for name in ["ledger.sqlite", "ledger.head"]:
        (home / name).unlink()
    spent = ["--spent-epsilon", 0, "--spent-delta", 0]
    code, answer, error = cli("ledger", "restart", home, *spent, "--data", home / "data.csv", "--json")
    assert code == 0, error
    assert [line["left"] for line in answer["lines"] if line["what"] == "study"] == [True]
    with pytest.raises(StudyError, match="has left this study"):
        engine.exchange(0, [], known=False)
    # Nor after its folder was moved away.
    (home / "flower").rename(home / "aside")
    with pytest.raises(StudyError, match="has left this study"):
        engine.exchange(0, [], known=False)


def test_another_ledger_over_the_same_table_is_refused(engine, tmp_path):
    engine.exchange(0, [], known=False)
    other = tmp_path / "other"
    other.mkdir()
    machine = engine.party(0, ledger=other)
    with pytest.raises(StudyError, match="has sent something in 1 study"):
        machine.answer(engine.request(0, []), 100)
    # Another party over the table of the first.
    table = engine.parties / "0" / "data.csv"
    home = engine.parties / "1"
    options = dict(simulate_noise=engine.rehearsal.seed)
    machine = PartyMachine(home, home / "flower", table, **options)
    with pytest.raises(StudyError, match="is accounted for in the ledger of"):
        machine.answer(engine.request(1, [], known=False), 101)
    # With the ledger of the first it goes on where that was.
    machine = PartyMachine(home, home / "flower", table, ledger=engine.parties / "0", **options)
    answer = machine.answer(engine.request(1, [], known=False), 101)
    assert engine.coordinator.open_answer(101, engine.number, answer)[0] == 1


def test_a_key_of_a_rehearsal_takes_no_part_in_a_study_that_protects(tmp_path):
    secret = replace(SMALL, noise="cryptographic", **FEW_SUMS)
    engine = Engine(secret.write(tmp_path / "study"), secret)
    file = engine.parties / "0" / "party.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"simulated": True}))
    reports = engine.exchange(0, [], known=False)
    assert any(b"from a seed for rehearsals" in report for report in reports)


def test_parties_that_leave_before_upload_and_before_unmasking_change_nothing_else(engine):
    departures = [(1, 0, "upload"), (3, 0, "unmask")]
    receipt = engine.run(departures)
    assert receipt["fit"] == engine.in_one_process(departures)
    assert receipt["fit"] != engine.in_one_process()
    survivors = dict(engine.coordinator.status()[0])
    # Who leaves before unmasking is still in that sum.
    assert survivors[0] == [0, 2, 3, 4, 5]
    assert survivors[1] == [0, 2, 4, 5]


def test_a_study_with_secret_noise_says_what_it_guarantees(tmp_path):
    secret = replace(SMALL, noise="cryptographic", **FEW_SUMS)
    engine = Engine(secret.write(tmp_path / "study"), secret)
    receipt = engine.run()
    assert engine.refusals == []
    assert receipt["ending"] == "complete"
    assert receipt["guarantee"]["noise"] == "cryptographic"
    assert receipt["guarantee"]["statement"].startswith("Privacy   epsilon = ")
    again = Engine(secret.write_study(tmp_path / "again"), secret, tmp_path / "study")
    assert again.run()["fit"] != receipt["fit"]


def test_a_coordinator_that_is_killed_in_each_phase_goes_on_from_its_state(engine):
    phases = 0
    while engine.coordinator.phase()[0] != "over":
        engine.run_phase()
        phases += 1
        engine.restart_coordinator()
        for place in range(SMALL.parties):
            engine.coordinator.returned(place)
    receipt = json.loads(engine.coordinator.receipt())["receipt"]
    assert receipt["fit"] == engine.in_one_process()
    # Keys, pairs, shares and receipts, then three for each sum.
    assert phases == 4 + 3 * len(receipt["sums"])


def test_an_answer_that_was_lost_is_given_again_bit_for_bit(engine):
    engine.run_phase()
    orders = engine.orders()
    first = engine.exchange(0, orders[0])
    assert engine.exchange(0, orders[0]) == first, "shares"
    for place in range(SMALL.parties):
        for report in engine.exchange(place, orders[place]):
            engine.coordinator.receive(place, report)
    engine.coordinator.close_phase()
    orders = engine.orders()
    (upload,) = engine.exchange(0, orders[0])
    again = engine.exchange(0, orders[0])
    assert again[-1] == upload


def test_a_stranger_is_refused_and_named(engine, tmp_path):
    secret, public = simulated_identity(99)
    home = tmp_path / "stranger"
    home.mkdir()
    write_private(home / "identity.key", secret)
    machine = PartyMachine(home, home / "flower", home / "data.csv")
    answer = machine.answer(engine.request(0, [], known=False), 100)
    with pytest.raises(StudyError, match=f"node 100 is a stranger.*{public}"):
        engine.coordinator.open_answer(100, engine.number, answer)


def test_an_engine_can_neither_forge_nor_redirect_nor_repeat_an_answer(engine):
    answer = engine.party(0).answer(engine.request(0, [], known=False), 100)
    number = engine.number
    other = engine.party(1).answer(engine.request(1, [], known=False), 101)
    open_answer = engine.coordinator.open_answer
    assert open_answer(100, number, answer)[0] == 0
    mine, others = (bytes.fromhex(simulated_identity(1, place)[1]) for place in (0, 1))
    assert mine.hex().encode() in answer
    claimed = answer.replace(mine.hex().encode(), others.hex().encode())
    flipped = bytearray(answer)
    flipped[len(answer) // 2] ^= 1
    for forged in [claimed, bytes(flipped), answer[:-64] + other[-64:], answer[:10], b""]:
        with pytest.raises(StudyError):
            open_answer(100, number, forged)
    with pytest.raises(StudyError, match="another request"):
        open_answer(101, number, answer)
    with pytest.raises(StudyError, match="another request"):
        open_answer(100, number + 1, answer)


def test_an_engine_can_neither_forge_nor_redirect_nor_repeat_a_request(engine):
    request = engine.request(0, [], known=False)
    party = engine.party(0)
    flipped = bytearray(request)
    flipped[-1] ^= 1
    with pytest.raises(StudyError, match="not signed with the key"):
        party.answer(bytes(flipped), 100)
    with pytest.raises(StudyError, match="another study or node"):
        party.answer(request, 7)
    party.answer(request, 100)
    with pytest.raises(StudyError, match="was answered before"):
        party.answer(request, 100)
    engine.exchange(1, [], known=False)
    with pytest.raises(StudyError, match="for another party"):
        engine.party(1).answer(engine.coordinator.request(101, 50, [], party=0), 101)
    unknown = engine.coordinator.request(102, 51, [], party=2)
    with pytest.raises(StudyError, match="no invitation came with it"):
        engine.party(2).answer(unknown, 102)


def test_a_policy_refuses_a_study_before_the_table_is_opened(engine):
    home = engine.parties / "0"
    (home / "data.csv").unlink()
    policy = home / "policy.toml"
    policy.write_text(policy.read_text().replace("smallest-quorum = 2", "smallest-quorum = 6"))
    (report,) = engine.exchange(0, [], known=False)
    engine.coordinator.receive(0, report)
    assert engine.coordinator.waits_for() == [1, 2, 3, 4, 5]
    ((party, reason),) = engine.coordinator.status()[1]
    assert party == 0
    assert "the quorum is 4, but this party's policy requires at least 6" in reason


def test_a_party_that_the_policy_does_not_list_is_refused(engine):
    policy = engine.parties / "0" / "policy.toml"
    policy.write_text(policy.read_text().replace("party-3 =", "# party-3 ="))
    (report,) = engine.exchange(0, [], known=False)
    engine.coordinator.receive(0, report)
    ((_, reason),) = engine.coordinator.status()[1]
    assert 'a party is "party-3" with the key' in reason
    assert "party-4" not in reason


def test_with_an_officer_only_a_signed_policy_counts(engine):
    (engine.parties / "0" / "officer.pub").write_text(simulated_identity(7)[1] + "\n")
    with pytest.raises(Exception, match="has no signature"):
        engine.exchange(0, [], known=False)


def test_the_lifetime_ledger_counts_earlier_studies(tmp_path):
    secret = replace(SMALL, noise="cryptographic", **FEW_SUMS)
    first = Engine(secret.write(tmp_path / "first"), secret)
    first.run()
    policy = first.parties / "0" / "policy.toml"
    policy.write_text(policy.read_text().replace("in-total = 500.0", "in-total = 60.0"))
    study = secret.write_study(tmp_path / "second")
    second = Engine(study, secret, parties=tmp_path / "first")
    (report,) = second.exchange(0, [], known=False)
    second.coordinator.receive(0, report)
    ((_, reason),) = second.coordinator.status()[1]
    assert "the cost of this and all earlier studies" in reason


def test_a_rehearsal_is_refused_by_a_party_without_a_seed(engine):
    reports = engine.party(0, simulate_noise=None).answer(engine.request(0, [], False), 100)
    _, (report,), _ = engine.coordinator.open_answer(100, engine.number, reports)
    engine.coordinator.receive(0, report)
    ((_, reason),) = engine.coordinator.status()[1]
    assert "no seed" in reason


def test_the_state_is_sealed_private_and_bound_to_its_key(engine):
    engine.exchange(0, [], known=False)
    (sealed,) = (engine.parties / "0" / "flower").glob("study-*/party.sealed")
    assert sealed.stat().st_mode & 0o777 == 0o600
    assert sealed.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(StudyError, match="sealed with another key"):
        engine.party(0, state_key="ab" * 32).answer(engine.request(0, []), 100)
    stored = bytearray(sealed.read_bytes())
    stored[40] ^= 1
    sealed.write_bytes(stored)
    with pytest.raises(StudyError, match="damaged"):
        engine.party(0).answer(engine.request(0, []), 100)
    with pytest.raises(StudyError, match="64 hexadecimal digits"):
        engine.party(0, state_key="short")


def test_a_former_state_is_overwritten(engine, tmp_path):
    engine.exchange(0, [], known=False)
    (state,) = (engine.parties / "0" / "flower").glob("study-*/party.sealed")
    # A second name of the file shows what became of its content.
    former = tmp_path / "former"
    former.hardlink_to(state)
    length = former.stat().st_size
    engine.exchange(0, [], known=False)
    assert former.read_bytes() == bytes(length)


def test_others_go_on_without_a_party_whose_table_is_not_what_was_agreed_on(engine):
    table = engine.parties / "2" / "data.csv"
    rows = table.read_text().splitlines()
    table.write_text("\n".join(rows + rows[1:3]) + "\n")
    receipt = engine.run()
    assert receipt["sums"][0]["outcome"]["unmasked"]["survivors"] == [0, 1, 3, 4, 5]
    ((party, reason),) = engine.coordinator.status()[1]
    assert party == 2
    assert reason == "its table cannot be used in this study", "nothing read off the table is sent"
