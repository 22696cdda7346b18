"""60 public compositions that use other functions than patch-and-transform, against what their functions make.

Each case has one to three passes: nothing exists yet, all that was composed exists and is ready, and the state that the
repository publishes. `RANDOM` names the values that the peer draws.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import EngineError
from claimsmith.dialects.common.exported import bare
from claimsmith.dialects.crossplane import composition as crossplane_composition
from claimsmith.dialects.crossplane import xrd
from claimsmith.functions import grpc_caller, pipeline, python
from claimsmith.functions.requirements import Sources
from tests.support import pythonic
from tests.support.paths import ROOT

CASES = ROOT.parent / "shared" / "conformance" / "functions"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared conformance data is not beside this repository")

RANDOM = {
    "crossplane-contrib-function-go-templating-head-example-inline": (
        ("metadata", "labels", "dummy"),
        {"foo", "bar", "baz"},
        "randomChoice",
    )
}
"""The field in which a case differs by chance, the values that it may have, and the function that draws them."""

REPEATED = {
    "livewyer-ops-crossplane-configuration-aws-elemental-head-originendpoint.mediapackage.aws.livewyer.io": (
        "its definition writes the key 'required' twice: refused as a file of the user's, the last one counts here"
    )
}

OLD_YAML = {
    "upbound-configuration-aws-dynamodb-head-instance.dynamodb.aws.platform.upbound.io": (" N\n", " false\n"),
}
"""Plain texts that the peer reads as YAML 1.1 has it, and we as YAML 1.2: here the peer's value is written out."""

PERMITTED = dict.fromkeys(("function-python", "crossplane-contrib-function-python"), python.of_code(python.Code()))
"""Functions that run only where the platform permits them, in this process's own interpreter."""

PASSES = {"expected.yaml": None, "expected.observed.yaml": "observed.yaml", "expected.observed2.yaml": "observed2.yaml"}


def documents(path: Path) -> list[Document]:
    if not path.is_file():
        return []
    plain, value = OLD_YAML.get(path.parent.name, ("", ""))
    text = path.read_text().replace(plain, value) if plain else path.read_text()
    return read_documents(text, file=path.name, repeated=path.parent.name in REPEATED)


def permitted(folder: Path) -> dict[str, Any]:
    """The functions of a case that run only where the platform permits them."""
    steps = documents(folder / "composition.yaml")[0].data["spec"]["pipeline"]
    names = {step["functionRef"]["name"] for step in steps}
    programs = {n: pythonic.require(n) for n in names if n.endswith("function-pythonic")}
    return PERMITTED | programs


def folders() -> list[Path]:
    return [f for f in sorted(CASES.iterdir()) if f.is_dir()] if CASES.is_dir() else []


def cases(*files: str) -> list[Any]:
    found = [(f, name) for f in folders() for name in files if (f / name).is_file()]
    return [pytest.param(folder, name, id=f"{folder.name}-{name}") for folder, name in found]


@pytest.fixture(autouse=True, scope="module")
def _stopped() -> Iterator[None]:
    yield
    grpc_caller.stop_all()


def render(folder: Path, observed: str | None) -> pipeline.Rendered:
    klass, _ = crossplane_composition.read(bare(documents(folder / "composition.yaml")[0]))
    composite, *_ = documents(folder / "xr.yaml")
    [definition] = documents(folder / "xrd.yaml") or [None]
    data = xrd.read(definition).defaulted(composite) if definition else composite.data
    schemas = [json.loads(f.read_text()) for f in sorted((folder / "schemas").glob("*.json"))]
    required = [d.data for d in documents(folder / "extra.yaml")]
    around = pipeline.Surroundings(sources=Sources(required, schemas), declared=permitted(folder))
    existing = [d.data for d in documents(folder / observed)] if observed else []
    return pipeline.render(klass, data, observed=existing, around=around)


def without_chance(document: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A document without the value that is drawn, which must be one of those that may be."""
    path, choices, _ = RANDOM.get(folder.name, ((), set(), ""))
    holder = document
    for key in path[:-1]:
        holder = holder.get(key) or {}
    value = holder.pop(path[-1], None) if path else None
    assert value is None or value in choices
    return document


@pytest.mark.parametrize(("folder", "expected"), cases(*PASSES))
def test_functions(folder: Path, expected: str) -> None:
    rendered = render(folder, PASSES[expected])
    wanted = [d for d in yaml.safe_load_all((folder / expected).read_text()) if d]
    made = json.loads(json.dumps([*rendered.documents(), *rendered.results()]))
    # Through JSON, where a number has one spelling, and true is not 1.
    assert [json.dumps(without_chance(d, folder), sort_keys=True) for d in made] == [
        json.dumps(without_chance(d, folder), sort_keys=True) for d in wanted
    ]


@pytest.mark.parametrize(("folder", "expected"), cases("expected_error.txt"))
def test_functions_refused(folder: Path, expected: str) -> None:
    with pytest.raises(EngineError) as caught:
        render(folder, None)
    assert all(p.where and p.path and p.fix for p in caught.value.problems)
