"""The order in which Crossplane compositions are worked off, what is waited for, and circles."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.documents import Document
from claimsmith.base.errors import CatalogError, ComposeError, EngineError, ReferenceError_
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.klass import Check, Class, Template
from claimsmith.dialects.crossplane import composition
from claimsmith.platform.catalog import read_catalog

BASE = {"apiVersion": "example.org/v1", "kind": "Thing", "spec": {}}


def resource(name: str, *patches: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "base": BASE, "patches": list(patches), **more}


def reads(path: str, **more: Any) -> dict[str, Any]:
    return {"type": "FromCompositeFieldPath", "fromFieldPath": path, "toFieldPath": "spec.value", **more}


def tells(path: str, to: str) -> dict[str, Any]:
    return {"type": "ToCompositeFieldPath", "fromFieldPath": path, "toFieldPath": to}


def keeps(path: str) -> dict[str, Any]:
    return {"type": "ToEnvironmentFieldPath", "fromFieldPath": "status.id", "toFieldPath": path}


def recalls(path: str) -> dict[str, Any]:
    return {"type": "FromEnvironmentFieldPath", "fromFieldPath": path, "toFieldPath": "spec.value"}


def step(*resources: dict[str, Any], name: str = "compose", environment: list[Any] | None = None) -> dict[str, Any]:
    given = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": list(resources)}
    more = {"environment": {"patches": environment}} if environment else {}
    return {"step": name, "functionRef": {"name": "function-patch-and-transform"}, "input": {**given, **more}}


def document(*steps: dict[str, Any]) -> Document:
    data = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "things"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XThing"},
            "mode": "Pipeline",
            "pipeline": list(steps),
        },
    }
    return Document(data, "composition.yaml")


def klass(*steps: dict[str, Any]) -> Class:
    made, _ = composition.read(document(*steps))
    return ordering.deployable(made)[0]


def order(*steps: dict[str, Any]) -> list[str]:
    return [o.name for o in ordering.operations(klass(*steps)) if o.template]


CONFIGS = {
    "step": "configs",
    "functionRef": {"name": "function-environment-configs"},
    "input": {"apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1", "kind": "Input", "spec": {}},
}


@pytest.mark.parametrize(
    ("steps", "want"),
    [
        pytest.param([step(resource("a"), resource("b"))], ["a", "b"], id="as-listed"),
        pytest.param(
            [step(resource("a", reads("status.id")), resource("b", tells("status.id", "status.id")))],
            ["b", "a"],
            id="the-writer-first",
        ),
        pytest.param(
            [step(resource("a", reads("status.net")), resource("b", tells("status.id", "status.net.id")))],
            ["b", "a"],
            id="an-object-that-is-written-in-part",
        ),
        pytest.param(
            [step(resource("a", reads("status.net.id")), resource("b", tells("status", "status.net")))],
            ["b", "a"],
            id="a-part-of-what-is-written",
        ),
        pytest.param(
            [step(resource("a", reads("status.network")), resource("b", tells("status.id", "status.net")))],
            ["a", "b"],
            id="another-field",
        ),
        pytest.param(
            [step(resource("a", recalls("x")), resource("b", keeps("x")))], ["a", "b"], id="the-environment-as-listed"
        ),
        pytest.param(
            [
                step(
                    resource("a", recalls("x"), reads("status.id")),
                    resource("b", recalls("x"), tells("status.id", "status.id")),
                )
            ],
            ["b", "a"],
            id="two-readers-of-the-environment-may-change-places",
        ),
        pytest.param(
            [
                step(resource("a", reads("status.id")), resource("b", tells("status.id", "status.id"))),
                step(resource("c"), name="second"),
            ],
            ["b", "a", "c"],
            id="steps",
        ),
        pytest.param(
            [step(resource("a"), resource("b")), step(resource("a"), name="second")],
            ["b", "a"],
            id="a-later-step-makes-it-anew",
        ),
        pytest.param([CONFIGS, step(resource("a", recalls("x")))], ["a"], id="after-the-configs"),
        pytest.param(
            [
                step(
                    resource("a", recalls("x"), reads("status.id")),
                    resource("plain"),
                    resource("b", recalls("y"), tells("status.id", "status.id")),
                )
            ],
            ["plain", "b", "a"],
            id="a-resource-without-patches-has-nothing-to-do-with-the-environment",
        ),
    ],
)
def test_order(steps: list[dict[str, Any]], want: list[str]) -> None:
    assert order(*steps) == want


def test_a_patch_of_the_environment_waits_for_the_status_that_it_reads() -> None:
    patch = {"type": "FromCompositeFieldPath", "fromFieldPath": "status.id", "toFieldPath": "id"}
    made = klass(
        step(resource("a", recalls("id")), resource("b", tells("status.id", "status.id")), environment=[patch])
    )
    names = [o.name for o in ordering.operations(made)]
    assert [n.partition(" at ")[0] for n in names] == ["b", "the environment patch", "a"]


def test_a_resource_without_a_base_adds_to_an_earlier_one() -> None:
    later = {"name": "a", "patches": [reads("spec.more")], "readinessChecks": [{"type": "None"}]}
    made = klass(step(resource("a", reads("spec.first"))), step(later, name="second"))
    [template] = made.templates
    assert [p.reads for p in template.patches] == [("spec.first",), ("spec.more",)]
    assert template.base == BASE
    assert ordering.ready(template) == ()


@pytest.mark.parametrize(
    ("steps", "want"),
    [
        pytest.param(
            [
                step(
                    resource("a", reads("status.b"), tells("status.id", "status.a")),
                    resource("b", reads("status.a"), tells("status.id", "status.b")),
                )
            ],
            "a needs b (FromCompositeFieldPath status.b, which ToCompositeFieldPath of b writes)",
            id="two-statuses",
        ),
        pytest.param(
            [
                step(
                    resource(
                        "a", reads("status.a", policy={"fromFieldPath": "Required"}), tells("status.id", "status.a")
                    )
                )
            ],
            "a needs a (FromCompositeFieldPath status.a, which ToCompositeFieldPath of a writes)",
            id="its-own-status",
        ),
        pytest.param(
            [
                step(
                    resource("a", keeps("x"), reads("status.b")),
                    resource("b", recalls("x"), tells("status.id", "status.b")),
                )
            ],
            "b needs a (the environment's x)",
            id="status-against-environment",
        ),
    ],
)
def test_circles_are_refused_naming_the_patches(steps: list[dict[str, Any]], want: str) -> None:
    with pytest.raises(ReferenceError_) as caught:
        klass(*steps)
    assert want in caught.value.problems[0].what


@pytest.mark.parametrize(
    ("steps", "want"),
    [
        pytest.param(
            [
                {
                    "step": "code",
                    "functionRef": {"name": "function-unheard-of"},
                    "input": {"apiVersion": "unheard-of.example.org/v1", "kind": "Input"},
                }
            ],
            "the step 'code' runs function-unheard-of, which is not known here",
            id="an-unknown-function",
        ),
        pytest.param(
            [step({"name": "a", "patches": []})], "has no base, and no earlier step composes it", id="no-base"
        ),
    ],
)
def test_what_cannot_be_deployed_is_refused(steps: list[dict[str, Any]], want: str) -> None:
    with pytest.raises(CatalogError) as caught:
        read_catalog([document(*steps)])
    assert want in caught.value.problems[0].what


def test_a_composition_with_other_functions_has_no_templates_of_its_own() -> None:
    """Its pipeline makes them, for each composite."""
    text = {"step": "text", "functionRef": {"name": "acme-function-go-templating"}, "input": {"source": "Inline"}}
    made, _ = composition.read(document(step(resource("a")), text))
    flat, said = ordering.deployable(made)
    assert (flat.templates, said, ordering.operations(flat)) == ((), [], [])
    assert ordering.is_piped(flat)


@pytest.mark.parametrize("name", ["acme", "function-patch-and-transform", "acme-function-patch-and-transform"])
def test_a_function_that_the_project_declares_is_deployed_and_wins_over_a_built_in_one(name: str) -> None:
    own = {**step(resource("a")), "functionRef": {"name": name}}
    made, _ = composition.read(document(own if "patch" in name else {"step": "own", "functionRef": {"name": name}}))
    flat, _ = ordering.deployable(made, {"acme", "function-patch-and-transform"})
    assert ordering.is_piped(flat)
    assert flat.templates == ()


def test_a_function_that_nobody_declares_is_refused_by_its_name() -> None:
    made, _ = composition.read(document({"step": "own", "functionRef": {"name": "acme"}}))
    with pytest.raises(EngineError) as caught:
        ordering.deployable(made, {"other"})
    assert "the step 'own' runs acme, which is not known here" in caught.value.problems[0].what


def test_auto_ready_changes_nothing() -> None:
    ready = {"step": "ready", "functionRef": {"name": "function-auto-ready"}}
    assert order(step(resource("a")), ready) == ["a"]


@pytest.mark.parametrize("to", ["spec.value", "metadata.labels.x", "other"])
def test_what_is_told_beside_the_status_is_lost_with_a_warning(to: str) -> None:
    made, _ = composition.read(document(step(resource("a", tells("status.id", to)))))
    _, said = ordering.deployable(made)
    assert [p.what for p in said] == [
        f"ToCompositeFieldPath writes {to} of the composite, of which only the status is kept"
    ]


def test_what_a_child_tells_itself_is_nothing_at_first() -> None:
    made, _ = composition.read(document(step(resource("a", reads("status.a"), tells("status.id", "status.a")))))
    _, said = ordering.deployable(made)
    assert [p.what for p in said] == ["a reads status.a, which it writes itself: nothing at first"]


@pytest.mark.parametrize(
    ("patches", "others", "want"),
    [
        pytest.param([tells("status.id", "status.id")], [reads("status.id")], ("status.id",), id="somebody-reads-it"),
        pytest.param([tells("status.id", "status.id")], [], (), id="nobody-reads-it"),
        pytest.param([tells("metadata.name", "status.id")], [reads("status.id")], (), id="no-status"),
        pytest.param([keeps("id")], [], ("status.id",), id="the-environment"),
    ],
)
def test_awaited(patches: list[Any], others: list[Any], want: tuple[str, ...]) -> None:
    assert ordering.awaited(klass(step(resource("a", *patches), resource("b", *others))))["a"] == want


HOST = [{"type": "FromFieldPath", "name": "host", "fromFieldPath": "status.host"}]


@pytest.mark.parametrize(
    ("patches", "others", "want"),
    [
        pytest.param([], [], (), id="of-the-secret-only"),
        pytest.param([tells("status.host", "status.host")], [], (), id="told-and-not-read"),
        pytest.param(
            [tells("status.host", "status.host")], [reads("status.host")], ("status.host",), id="read-by-a-sibling"
        ),
    ],
)
def test_a_detail_that_is_a_field_is_awaited_where_something_else_needs_it(
    patches: list[Any], others: list[Any], want: tuple[str, ...]
) -> None:
    made = klass(step(resource("a", *patches, connectionDetails=HOST), resource("b", *others)))
    assert ordering.awaited(made)["a"] == want


@pytest.mark.parametrize(
    ("check", "want"),
    [
        pytest.param(Check("None"), (), id="none"),
        pytest.param(Check("NonEmpty", "status.id"), ("jsonpath={$['status']['id']}",), id="non-empty"),
        pytest.param(
            Check("MatchString", "status.state", "up"), ("jsonpath={$['status']['state']}=up",), id="match-string"
        ),
        pytest.param(
            Check("MatchInteger", "status.n[0]", 4), ("jsonpath={$['status']['n'][0]}=4",), id="match-integer"
        ),
        pytest.param(Check("MatchTrue", "status.ok"), ("jsonpath={$['status']['ok']}=true",), id="match-true"),
        pytest.param(Check("MatchFalse", "status.ok"), ("jsonpath={$['status']['ok']}=false",), id="match-false"),
        pytest.param(
            Check("MatchCondition", condition=("Synced", "False")), ("condition=Synced=False",), id="match-condition"
        ),
        pytest.param(
            Check("NonEmpty", "metadata.annotations[a.b/c]"),
            ("jsonpath={$['metadata']['annotations']['a.b/c']}",),
            id="dots",
        ),
    ],
)
def test_ready(check: Check, want: tuple[str, ...]) -> None:
    assert ordering.ready(Template("a", BASE, checks=(check,))) == want


@pytest.mark.parametrize("expected", ["", "a=b"])
def test_what_the_engine_cannot_wait_for_is_refused(expected: str) -> None:
    with pytest.raises(ComposeError):
        ordering.ready(Template("a", BASE, checks=(Check("MatchString", "status.state", expected),)))


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param({"managed": True}, None, id="the-usual"),
        pytest.param({"managed": True, "ready": ()}, (), id="nothing"),
        pytest.param(
            {"managed": True, "awaits": ("status.id",)},
            ("condition=Ready", "jsonpath={$['status']['id']}"),
            id="ready-and-a-field",
        ),
        pytest.param({"managed": False, "awaits": ("status.id",)}, ("jsonpath={$['status']['id']}",), id="a-field"),
        pytest.param(
            {"managed": True, "ready": ("condition=Up",), "awaits": ("status.id",)},
            ("condition=Up", "jsonpath={$['status']['id']}"),
            id="instead-of-ready",
        ),
    ],
)
def test_wait_for(given: dict[str, Any], want: tuple[str, ...] | None) -> None:
    assert ordering.wait_for(**given) == want
