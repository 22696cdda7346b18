"""The public compositions of the shared data as a stack deploys them: planned like the peer's, generated, registered.

What a plan says of each child must be what the peer renders, but for what is known only later, and for selectors, which
are followed here. What the generated component registers must be what the plan says.
"""

from __future__ import annotations

import copy
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pulumi
import pytest
import yaml

from claimsmith import generate, render
from claimsmith.base.documents import Document, read_documents
from claimsmith.base.errors import EngineError
from claimsmith.base.values import Mix, Ref, is_later
from claimsmith.compose.drafts import claim_data
from claimsmith.compose.plan import Plan
from claimsmith.compose.planning import build_plan
from claimsmith.dialects.crossplane import xrd
from claimsmith.dialects.crossplane.composition import function_of
from claimsmith.kubernetes.crds import plural_of
from claimsmith.platform.catalog import Catalog, read_catalog
from tests.support import samples
from tests.support.mocked import registered
from tests.support.paths import ROOT

RENDERED = ROOT.parent / "shared" / "conformance" / "render"
FUNCTIONS = ROOT.parent / "shared" / "conformance" / "functions"
pytestmark = pytest.mark.skipif(not RENDERED.is_dir(), reason="the shared data is not beside this repository")

REQUIRED = "which the class requires"
REFUSED = {
    "awslabs-crossplane-on-eks-head-job-run.emr-containers.awsblueprints.io": "run in a circle",
    "awslabs-crossplane-on-eks-head-irsa-": REQUIRED,
    "crossplane-crossplane-v1.10.0-example-2": REQUIRED,
    "crossplane-crossplane-v1.5.0-example-2": REQUIRED,
    "crossplane-contrib-function-go-templating-head-example-function-to-yaml": "would both write Deployment",
    "crossplane-contrib-function-go-templating-head-example-recursive-wrapper": "runs in a circle",
    "crossplane-docs-head-app-python": "runs Python code of the composition",
    "crossplane-docs-head-useraccesskeys-python": "runs Python code of the composition",
    "dip-software-crossplane-compositions-head-s3irsa-aws": "would both write Secret",
    "livewyer-ops-crossplane-configuration-aws-elemental-head-originendpoint": "occurs twice",
}
"""The beginning of each case that cannot be deployed, and what is said of it.

A child whose required source the composite lacks is left out by the peer; here the composite is refused.
"""


def folders() -> list[Path]:
    found = [f for shared in (RENDERED, FUNCTIONS) if shared.is_dir() for f in sorted(shared.iterdir())]
    return [f for f in found if f.is_dir() and not (f / "expected_error.txt").exists() and is_built_in(f)]


OLD_YAML = ("upbound-configuration-aws-dynamodb-head-instance.dynamodb.aws.platform.upbound.io",)
"""Cases with a plain `N`, which the peer reads as false, as YAML 1.1 has it."""


def is_built_in(folder: Path) -> bool:
    """Whether all functions of a case are built in."""
    spec = yaml.safe_load((folder / "composition.yaml").read_text())["spec"]
    return all(function_of(s["functionRef"]["name"], {}) for s in spec.get("pipeline") or ())


CASES = [pytest.param(folder, id=folder.name) for folder in folders()]


ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}


def definition_of(folder: Path, composite: Document) -> tuple[Document, Document]:
    """The definition with a schema that takes anything, since examples are not always valid; and the composite.

    The composite has its definition's defaults, as the peer's has. Where there is no definition, one is made up.
    """
    kind, api_version = composite.data["kind"], composite.data["apiVersion"]
    group, _, version = api_version.rpartition("/")
    plural = plural_of(kind)
    served = {"name": version, "served": True, "referenceable": True, "schema": ANYTHING}
    spec: dict[str, Any] = {"group": group, "names": {"kind": kind, "plural": plural}, "versions": [served]}
    head = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "CompositeResourceDefinition"}
    made = {**head, "metadata": {"name": f"{plural}.{group}"}, "spec": spec}
    if (folder / "xrd.yaml").exists():
        [given] = read_documents((folder / "xrd.yaml").read_text(), file="xrd.yaml")
        read = xrd.read(given)
        composite = Document(read.defaulted(composite), "xr.yaml")
        scope = {"scope": given.data["spec"]["scope"]} if read.modern else {}
        made = {**made, "apiVersion": given.data["apiVersion"] if read.modern else made["apiVersion"]}
        made = {**made, "metadata": {"name": f"{plural}.{group}"}, "spec": {**spec, **scope}}
        if not read.namespaced:
            composite.data["metadata"].pop("namespace", None)
    return Document(made, "xrd.yaml"), composite


def plan_of(folder: Path) -> tuple[Catalog, Plan]:
    data = yaml.safe_load((folder / "xr.yaml").read_text())
    # Some examples have places for what a script fills in.
    metadata = data["metadata"]
    metadata["name"] = re.sub(r"[^a-z0-9-]", "", metadata["name"].lower())
    metadata["labels"] = {k: re.sub(r"[${}_]", "", v.lower()) for k, v in (metadata.get("labels") or {}).items()}
    defined, composite = definition_of(folder, Document(data, "xr.yaml"))
    composition = read_documents((folder / "composition.yaml").read_text(), file="composition.yaml")
    extra = folder / "extra.yaml"
    resources = read_documents(extra.read_text(), file="extra.yaml") if extra.is_file() else []
    catalog = read_catalog([defined, *composition], [composite], resources=resources)
    found = samples.expanded(catalog)
    assert not found.unbound
    return catalog, build_plan(found, project="p", stack="dev", table=samples.table())


def refusal(folder: Path) -> str | None:
    found = [name for name in REFUSED if folder.name.startswith(name)]
    return next((REFUSED[name] for name in found if folder.name == name or folder.name[len(name) :][:1] != "-"), None)


BY_CHANCE = ("labels.dummy",)
"""Fields that the peer draws at random."""


def unlike(want: Any, got: Any, path: str = "") -> list[str]:
    """Where two values differ in what is known now; selectors, and what they become, are not compared."""
    if isinstance(got, Ref | Mix) or (want is None and got == []):
        # What is appended to nothing is null there.
        return []
    match want, got:
        case dict(), dict():
            skipped = {k for k in want if k.endswith("Selector")}
            skipped |= {f"{k.removesuffix('Selector')}Ref" for k in skipped}
            # The peer's render command does not say where a composite's own Secret goes.
            skipped |= {"namespace"} if path.endswith("writeConnectionSecretToRef") else set()
            keys = {k for k in want.keys() | got.keys() if k not in skipped}
            keys -= {k for k in got if k not in want and is_later(got[k])}
            return [line for k in sorted(keys) for line in unlike(want.get(k), got.get(k), f"{path}.{k}")]
        case list(), list():
            got = got if len(got) == len(want) else [item for item in got if not isinstance(item, Ref | Mix)]
            if len(want) != len(got):
                return [f"{path}: {want!r} is {got!r}"]
            return [line for i in range(len(want)) for line in unlike(want[i], got[i], f"{path}[{i}]")]
        case _:
            return [] if _same(want, got) else [f"{path}: {want!r} is {got!r}"]


def _same(want: Any, got: Any) -> bool:
    """Whether two values are the same, but for the places that scripts fill in, which are no names."""
    return want == got or (isinstance(want, str) and "$" in want and isinstance(got, str))


def compared(folder: Path) -> list[pytest.MarkDecorator]:
    why = "the peer reads the plain text N as false, as YAML 1.1 has it; we read YAML 1.2"
    return [pytest.mark.xfail(reason=why, strict=True)] if folder.name in OLD_YAML else []


@pytest.mark.parametrize("folder", [pytest.param(f, id=f.name, marks=compared(f)) for f in folders()])
def test_a_plan_says_what_the_peer_renders(folder: Path) -> None:
    if what := refusal(folder):
        with pytest.raises(EngineError, match=what):
            plan_of(folder)
        return
    _, plan = plan_of(folder)
    [claim] = plan.claims
    ours = {c.template.name: c.document for c in claim.children}
    ours |= {n.template: n.binding.claim.data for n in claim.nested}
    label = "crossplane.io/composition-resource-name"
    documents = [d for d in yaml.safe_load_all((folder / "expected.yaml").read_text()) if d and "metadata" in d]
    wanted = {
        d["metadata"]["annotations"][label]: d for d in documents if label in d["metadata"].get("annotations", {})
    }
    assert wanted.keys() <= ours.keys(), (
        f"{wanted.keys() - ours.keys()}: what waits for a status there is made in the same run here"
    )
    problems = []
    for name, document in wanted.items():
        own = ours[name]
        problems += unlike(document.get("spec"), own.get("spec"), f"{name}: spec")
        problems += [
            line
            for key in ("labels", "annotations")
            for line in unlike(
                {k: v for k, v in document["metadata"].get(key, {}).items() if k != "crossplane.io/composite"},
                {k: v for k, v in own["metadata"].get(key, {}).items() if k in document["metadata"].get(key, {})}
                | {"crossplane.io/composite": None},
                f"{name}: {key}",
            )
            if "crossplane.io/composite" not in line
        ]
    assert [p for p in problems if not any(f": {path}:" in p for path in BY_CHANCE)] == [], problems


def without_nulls(value: Any) -> Any:
    """The engine gets no null fields."""
    match value:
        case dict():
            return {k: without_nulls(v) for k, v in value.items() if v is not None}
        case list():
            return [without_nulls(v) for v in value]
        case _:
            return value


@pytest.mark.parametrize("folder", [c for c in CASES if not refusal(c.values[0])])
def test_the_generated_component_registers_what_the_plan_says(folder: Path) -> None:
    catalog, plan = plan_of(folder)
    claims = generate.claim_types(catalog)
    classes = list(catalog.classes.values())
    source = generate.generate(classes, samples.table(), source="composition.yaml", claims=claims)
    module = ModuleType(f"component_{abs(hash(source))}")
    sys.modules[module.__name__] = module
    exec(compile(source, module.__name__, "exec"), module.__dict__)
    [claim] = plan.claims
    component = getattr(module, generate.class_name(claim.binding.klass))
    data = copy.deepcopy(claim_data(claim.binding))
    try:
        found = registered(plan, lambda context: component(claim.component_name, data, context=context), {})
    except pulumi.RunError as error:
        if "had no matches" in str(error):
            pytest.skip("the result of a pattern over a later value is known only once that exists")
        raise
    children = {r.name.removeprefix(f"{claim.component_name}/"): r.inputs for r in found}
    for child in claim.children:
        got, want = children[child.template.name], without_nulls(render.plain(child.document))
        metadata = {k: v for k, v in got["metadata"].items() if k != "annotations"}
        assert metadata == {k: v for k, v in want["metadata"].items() if k != "annotations"}, (metadata, want)
        assert want["metadata"]["annotations"].items() <= got["metadata"]["annotations"].items()
        assert {k: v for k, v in got.items() if k != "metadata"} == {
            k: v for k, v in want.items() if k != "metadata"
        }, (got, want)
