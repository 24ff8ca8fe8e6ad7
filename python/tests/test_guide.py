"""The guide of docs/python.md, run from its first block to its last."""

import re

import matplotlib
from conftest import ROOT


def test_the_guide_runs(monkeypatch):
    matplotlib.use("Agg")
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    names: dict = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/python.md, block {number + 1}", "exec"), names)
    assert set(names["model"].support_) == {3, 17}
    assert names["axes"].get_title().startswith("(")
