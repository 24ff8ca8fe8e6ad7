"""The model file of a study between parties, held against its own plan and ledger."""

import json

import pytest
from test_flower_machines import SMALL, Engine

from sprifed import ReceiptError, verify_receipt


def test_the_model_of_a_study_is_computed_again_and_a_changed_one_refused(tmp_path):
    engine = Engine(SMALL.write(tmp_path / "study"))
    engine.run()
    model = json.loads(dict(engine.coordinator.files())["model.json"])
    verified = verify_receipt(model)
    assert verified["guarantee"] == model["guarantee"]
    assert "one process" not in model["guarantee"]["trust"]
    for change in (
        dict(guarantee=model["guarantee"] | {"neighbours": "replace-one"}),
        dict(label=None),
        dict(receipts=[]),
        dict(n_clients=model["n_clients"] + 1),
        dict(most_records=10),
    ):
        with pytest.raises(ReceiptError):
            verify_receipt(model | change)
