"""The stubs name what there is, with the parameters that there are."""

import ast
import inspect

import sprifed
from conftest import ROOT
from sprifed import _core


def stubs():
    tree = ast.parse((ROOT / "python" / "sprifed" / "_core.pyi").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name != "__getattr__":
            yield node.name, node, getattr(_core, node.name)
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and not item.name.startswith("__"):
                    yield f"{node.name}.{item.name}", item, getattr(getattr(_core, node.name), item.name)


def test_every_stub_is_there_with_its_parameters():
    seen = 0
    for name, node, found in stubs():
        seen += 1
        if not callable(found):
            continue
        arguments = node.args
        ours = [argument.arg for argument in [*arguments.args, *arguments.kwonlyargs]]
        theirs = [name for name in inspect.signature(found).parameters]
        assert [n for n in ours if n != "self"] == [n for n in theirs if n != "self"], name
    assert seen > 30


def test_the_package_exports_what_it_says():
    typed = ast.parse((ROOT / "python" / "sprifed" / "__init__.pyi").read_text(encoding="utf-8"))
    stubbed = {alias.asname for node in typed.body for alias in node.names}
    assert stubbed == set(sprifed.__all__)
    for name in sprifed.__all__:
        assert getattr(sprifed, name) is not None
