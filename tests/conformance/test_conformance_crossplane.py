"""Crossplane against the peers' own tables and 135 public compositions, as recorded in the shared data.

A case agrees where we make the same documents, or refuse what the peer refuses. `DIFFERENT` names the cases in which we
differ on purpose, each with its reason.
"""

from __future__ import annotations

import base64
import copy
import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import EngineError
from claimsmith.base.transform import parse_transform
from claimsmith.dialects.common.klass import SecretDestination
from claimsmith.dialects.crossplane import composition as crossplane_composition
from claimsmith.dialects.crossplane import resources_input, xrd
from claimsmith.dialects.crossplane.patch_input import Combine, ConnectionDetail, PatchInput, ReadinessCheck
from claimsmith.functions import patch_and_transform, pipeline
from claimsmith.patching import details, patches
from claimsmith.patching.readiness import is_ready
from tests.support.paths import ROOT

SHARED = ROOT.parent / "shared" / "conformance"
TABLES, RENDERED = SHARED / "patch-and-transform", SHARED / "render"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared conformance data is not beside this repository")

DIFFERENT: dict[str, str] = {}
"""The id of each case in which we differ on purpose, and why."""

DETAIL: TypeAdapter[Any] = TypeAdapter(ConnectionDetail)
PARSERS = {
    "patch": PatchInput.model_validate,
    "combine": Combine.model_validate,
    "readinessCheck": ReadinessCheck.model_validate,
    "connectionDetail": DETAIL.validate_python,
    "transform": parse_transform,
}
REFUSED = (EngineError, ValidationError)


def param(case, name):
    marks = [pytest.mark.xfail(reason=DIFFERENT[name])] if name in DIFFERENT else []
    return pytest.param(case, id=name, marks=marks)


def cases(name):
    """The cases of a table, as parameters; none where there is no such file."""
    file = TABLES / f"{name}.json"
    return [param(c, c["id"]) for c in (json.loads(file.read_text()) if file.is_file() else [])]


def agree(case, work):
    """Run one case: the same result, or an error where the peer has one."""
    given = copy.deepcopy(case["input"])
    if case.get("error"):
        with pytest.raises(REFUSED):
            work(given)
        assert given.get("to") == case.get("toAfterError", given.get("to"))
        return
    assert work(given) == case["expected"]


# The tables of the patch-and-transform function


def to_patch(data):
    return resources_input.patch_of(PatchInput.model_validate(data), "")


def patched(given):
    if given.get("op") == "expandPatchSets":
        return inlined(given)
    patch = to_patch(given["patch"])
    patches.transfer(patch, {patch.origin: given["from"], patch.target: given["to"]})
    return given["to"]


def inlined(given):
    """Patch sets put in place: compared as the patches that they come down to."""
    sets = {
        s["name"]: resources_input.set_patches(resources_input.PatchSet.model_validate(s), "")
        for s in given["patchSets"] or ()
    }
    return [
        [
            replace(p, at="")
            for p in resources_input.inlined(list(map(PatchInput.model_validate, r.get("patches") or ())), sets, "")
        ]
        for r in given["resources"]
    ]


@pytest.mark.parametrize("case", cases("patch"))
def test_patch(case):
    if case["input"].get("op") == "expandPatchSets" and not case.get("error"):
        case = {**case, "expected": [[to_patch(p) for p in r.get("patches") or ()] for r in case["expected"]]}
    agree(case, patched)


@pytest.mark.parametrize("case", cases("readiness"))
def test_readiness(case):
    def ready(given):
        checks = [resources_input.check(ReadinessCheck.model_validate(c)) for c in given["readinessChecks"]]
        return is_ready(given["object"], checks)

    agree(case, ready)


@pytest.mark.parametrize("case", cases("validation"))
def test_validation(case):
    def valid(given):
        PARSERS[given["what"]](given["value"])
        return {"valid": True}

    agree(case, valid)


@pytest.mark.parametrize("case", [p for p in cases("validation") if p.values[0].get("error")])
def test_validation_names_the_field(case):
    given = case["input"]
    with pytest.raises(ValidationError) as caught:
        PARSERS[given["what"]](given["value"])
    found = {".".join(map(str, e["loc"])) for e in caught.value.errors()}
    wanted = case["fieldError"]["field"].replace("[", ".").replace("]", "")
    assert wanted.removesuffix(".pairs") in found


def decoded(data):
    return {key: base64.b64decode(value) for key, value in (data or {}).items()}


def encoded(found):
    return {key: base64.b64encode(value).decode() for key, value in found.items()}


def connection(given):
    match given["op"]:
        case "extract":
            wanted = [resources_input.detail(DETAIL.validate_python(d)) for d in given["connectionDetails"]]
            return encoded(details.extract(wanted, given["composed"] or {}, decoded(given["data"]))[0])
        case "secretRef":
            raw = resources_input.WriteSecret.model_validate(given["writeConnectionSecretToRef"] or {})
            place = SecretDestination(
                raw.name, raw.namespace, tuple(resources_input.patch_of(p, "") for p in raw.patches)
            )
            name, namespace = details.secret_destination(given["xr"], place)
            return {"name": name, "namespace": namespace}
        case "supportsConnectionDetails":
            return details.has_own_secret(given["xr"])


@pytest.mark.parametrize("case", cases("connection"))
def test_connection(case):
    agree(case, connection)


def function(given):
    """A whole request to the function, and its response."""
    observed, desired = given["observed"], given.get("desired") or {}
    existing = {
        name: patch_and_transform.Existing(r.get("resource") or {}, decoded(r.get("connectionDetails")))
        for name, r in (observed.get("resources") or {}).items()
    }
    composite = desired.get("composite") or {}
    state = patch_and_transform.State(
        composite=composite.get("resource") or {},
        resources={
            n: patch_and_transform.Desired(r["resource"], r.get("ready") == "READY_TRUE")
            for n, r in (desired.get("resources") or {}).items()
        },
        details=decoded(composite.get("connectionDetails")),
        environment=(given.get("context") or {}).get("apiextensions.crossplane.io/environment") or {},
    )
    document = Document(given["input"], "input")
    step = resources_input.read_step(document, given["input"], (), name="step", function="function", warnings=[])
    patch_and_transform.run_step(step, patch_and_transform.Observed(observed["composite"]["resource"], existing), state)
    resources = {
        name: {"resource": pipeline.as_json(d.document), **({"ready": "READY_TRUE"} if d.ready else {})}
        for name, d in state.resources.items()
    }
    return {
        "desired": {
            "composite": {
                "resource": pipeline.as_json(state.composite),
                **({"connectionDetails": encoded(state.details)} if state.details else {}),
                **({"ready": "READY_FALSE"} if state.held_back else {}),
            },
            **({"resources": resources} if resources else {}),
        },
        "context": {"apiextensions.crossplane.io/environment": state.environment},
        "results": [p.what for p in state.warnings],
    }


@pytest.mark.parametrize("case", cases("function"))
def test_function(case):
    wanted = {k: v for k, v in case["expected"].items() if k != "meta"}
    results = wanted.pop("results", [])
    said = [r["message"] for r in results]
    fatal = any(r["severity"] == "SEVERITY_FATAL" for r in results)
    agree({**case, "error": fatal, "expected": {**wanted, "results": said}}, function)


# The compositions


def folders(*needed):
    found = sorted(RENDERED.iterdir()) if RENDERED.is_dir() else []
    return [param(f, f.name) for f in found if f.is_dir() and all((f / n).is_file() for n in needed)]


def first(path):
    return read_documents(path.read_text(), file=path.name)[0]


def render(folder, composition="composition.yaml", *, observed=False):
    klass, _ = crossplane_composition.read(first(folder / composition))
    composite = first(folder / "xr.yaml")
    definition = folder / "xrd.yaml"
    data = xrd.read(first(definition)).defaulted(composite) if definition.is_file() else composite.data
    existing = read_documents((folder / "observed.yaml").read_text(), file="observed.yaml") if observed else []
    return pipeline.render(klass, data, observed=[d.data for d in existing])


OF_CLAIMS = ("crossplane.io/claim-name", "crossplane.io/claim-namespace")


def newer(document, composite):
    """What an older version of the crossplane command rendered, as v2.2 does: with the labels of the claim."""
    given = composite.data["metadata"].get("labels") or {}
    own = {key: given[key] for key in OF_CLAIMS if all(given.get(k) for k in OF_CLAIMS)}
    metadata = document["metadata"]
    return {**document, "metadata": {**metadata, "labels": {**metadata["labels"], **own}}}


def same_documents(rendered, expected):
    wanted = [d for d in yaml.safe_load_all(expected.read_text()) if d]
    composed = range(1, len(rendered.documents()))
    composite = first(expected.parent / "xr.yaml")
    wanted = [newer(d, composite) if i in composed else d for i, d in enumerate(wanted)]
    # Through JSON, where a number has one spelling, and true is not 1.
    plain = [json.dumps(d, sort_keys=True) for d in (*rendered.documents(), *rendered.results())]
    assert plain == [json.dumps(d, sort_keys=True) for d in wanted]


@pytest.mark.parametrize("folder", folders("expected.yaml"))
def test_render(folder):
    same_documents(render(folder), folder / "expected.yaml")


@pytest.mark.parametrize("folder", folders("expected.observed.yaml", "observed.yaml"))
def test_render_with_what_exists(folder):
    same_documents(render(folder, observed=True), folder / "expected.observed.yaml")


@pytest.mark.parametrize("folder", folders("expected_error.txt"))
def test_render_refused(folder):
    with pytest.raises(EngineError) as caught:
        render(folder)
    assert all(p.where and p.path and p.fix for p in caught.value.problems)


def as_published(folder):
    file = folder / "composition.original.yaml"
    return file.is_file() and crossplane_composition.is_composition(first(file))


def named_by_bases(folder):
    """The resources that a composition of mode Resources names in their bases: Crossplane names them itself there."""
    spec = first(folder / "composition.original.yaml").data["spec"]
    listed = [] if spec.get("mode") == "Pipeline" else spec["resources"]
    bases = [(r.get("name") or f"resource-{i}", r["base"].get("metadata") or {}) for i, r in enumerate(listed)]
    return {name: metadata["name"] for name, metadata in bases if "name" in metadata}


def generated(document, names):
    """A composed resource with a name that is generated, where its name is that of its base."""
    metadata = document["metadata"]
    given = names.get((metadata.get("annotations") or {}).get("crossplane.io/composition-resource-name"), ())
    kept = {k: v for k, v in metadata.items() if (k, v) != ("name", given)}
    prefix = f"{(metadata.get('labels') or {}).get('crossplane.io/composite')}-"
    made = {} if "name" in kept else {"generateName": prefix}
    return {**document, "metadata": {**kept, **made}}


@pytest.mark.parametrize("folder", [p for p in folders("expected.yaml") if as_published(p.values[0])])
def test_render_as_published(folder):
    """Resources mode, older versions, types left out: what was published makes the same as its newer form."""
    made, wanted = render(folder, "composition.original.yaml"), render(folder)
    names = named_by_bases(folder)
    assert made.documents() == [generated(d, names) for d in wanted.documents()]
