"""What a review warns of: each rule with a change that it is for, and one beside it that is none of its business."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from claimsmith.base.labels import ADOPT
from claimsmith.base.names import GroupKind
from claimsmith.tools.review.access import widened
from claimsmith.tools.review.changes import Level
from claimsmith.tools.review.immutable import rules_of
from claimsmith.tools.review.warnings import in_order
from tests.support.review_files import (
    CLASS,
    CRD,
    GIVEN,
    KINDS,
    OTHER,
    SERVER,
    SQL,
    Files,
    base,
    changed,
    db,
    put,
    reviewed,
    set_file,
    sql,
)

SERVER_AT = "spec/resources/1/base/spec"
SERVER_KIND = "MySQLServer.database.azure.crossplane.io"
API = "spec/resources/1/base/apiVersion"
GROUP_API = "spec/resources/0/base/apiVersion"
PROTECTED = {"annotations": {"claimsmith.io/protect": "true"}}
RBAC = "rbac.authorization.k8s.io/v1"


def retained(name: str = "db") -> dict[str, Any]:
    return db(name, server={**SERVER, "spec": {**SERVER["spec"], "reclaimPolicy": "Retain"}})


def with_crd(rule: str) -> Any:
    """The provider's definition, with a rule on the version of a server."""
    version = {"type": "string", "x-kubernetes-validations": [{"rule": rule, "message": "version stays"}]}
    provider = {"type": "object", "properties": {"version": version}}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"forProvider": provider}}}}
    return set_file(
        CRD,
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "mysqlservers.database.azure.crossplane.io"},
            "spec": {
                "group": "database.azure.crossplane.io",
                "scope": "Cluster",
                "names": {"kind": "MySQLServer", "plural": "mysqlservers", "categories": ["managed"]},
                "versions": [
                    {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
                ],
            },
        },
    )


def role(*verbs: str) -> Any:
    rules = [{"apiGroups": [""], "resources": ["secrets"], "verbs": list(verbs)}]
    metadata = {"name": "reader", "namespace": "default"}
    return set_file(GIVEN, [{"apiVersion": RBAC, "kind": "Role", "metadata": metadata, "rules": rules}])


DEFINITION = {
    "apiVersion": "apiextensions.crossplane.io/v1alpha1",
    "kind": "InfrastructureDefinition",
    "metadata": {"name": "stores.data.example.org"},
    "spec": {
        "connectionDetails": ["username", "address", "port"],
        "crdSpecTemplate": {
            "group": "data.example.org",
            "version": "v1alpha1",
            "names": {"kind": "Store", "listKind": "StoreList", "plural": "stores", "singular": "store"},
            "validation": {"openAPIV3Schema": {"type": "object", "properties": {"size": {"type": "integer"}}}},
        },
    },
}
COMPOSITION = {
    "apiVersion": "apiextensions.crossplane.io/v1alpha1",
    "kind": "Composition",
    "metadata": {"name": "store", "labels": {"a": "b"}},
    "spec": {
        "from": {"apiVersion": "data.example.org/v1alpha1", "kind": "Store"},
        "to": [
            {
                "name": "server",
                "base": {
                    "apiVersion": "database.azure.crossplane.io/v1beta1",
                    "kind": "MySQLServer",
                    "spec": {"writeConnectionSecretToRef": {"namespace": "crossplane-system"}},
                },
                "connectionDetails": [
                    {"fromConnectionSecretKey": "username"},
                    {"name": "address", "fromConnectionSecretKey": "endpoint"},
                    {"fromConnectionSecretKey": "port"},
                ],
            }
        ],
    },
}
STORE_CLAIM = {
    "apiVersion": "data.example.org/v1alpha1",
    "kind": "Store",
    "metadata": {"name": "store"},
    "spec": {
        "infrastructure": {
            "compositionSelector": {"matchLabels": {"a": "b"}},
            "writeConnectionSecretToRef": {"namespace": "default", "name": "store"},
        }
    },
}
STORE = "components/store/composition.yaml"
PROMISE = "components/store/definition.yaml"


def store(**spec: Any) -> Files:
    definition = copy.deepcopy(DEFINITION)
    definition["spec"] |= spec
    return changed(
        set_file(PROMISE, definition),
        set_file(STORE, copy.deepcopy(COMPOSITION)),
        set_file("stacks/dev/claims/store.yaml", copy.deepcopy(STORE_CLAIM)),
    )


ACCOUNT = {"serviceAccountRef": {"namespace": "team", "name": "maker"}}

BAD = [
    pytest.param(
        base(), [put(CLASS, API, "database.azure.crossplane.io/v1beta2")], "identity-lost", "danger", id="identity-lost"
    ),
    pytest.param(
        changed(set_file(CLASS, retained())),
        [put(CLASS, API, "database.azure.crossplane.io/v1beta2")],
        "identity-taken-over",
        "note",
        id="identity-taken-over",
    ),
    pytest.param(base(), [set_file(SQL, None)], "data-deleted", "danger", id="data-deleted-with-its-claim"),
    pytest.param(
        base(), [put(CLASS, "spec/resources/1", None)], "data-deleted", "danger", id="data-deleted-with-its-template"
    ),
    pytest.param(
        base(),
        # The name in the cluster is derived from the one before.
        [put(CLASS, "spec/resources/1/previousName", "another")],
        "data-replaced",
        "danger",
        id="data-replaced",
    ),
    pytest.param(
        changed(with_crd("self == oldSelf")),
        [put(SQL, "spec/version", "8.0")],
        "immutable-field",
        "danger",
        id="immutable-by-crd",
    ),
    pytest.param(
        changed(set_file(KINDS, {"immutable": {SERVER_KIND: ["spec.forProvider.version"]}})),
        [put(SQL, "spec/version", "8.0")],
        "immutable-field",
        "danger",
        id="immutable-by-the-projects-table",
    ),
    pytest.param(
        base(),
        [put(CLASS, "spec/resources/0/base/spec/location", "East US")],
        "immutable-field",
        "warning",
        id="immutable-by-our-table",
    ),
    pytest.param(base(), [put(SQL, "spec/classRef/name", "other")], "binding-moves", "warning", id="binding-moves"),
    pytest.param(
        changed(set_file(CLASS, retained())),
        [put(CLASS, f"{SERVER_AT}/reclaimPolicy", "Delete")],
        "reclaim-deletes",
        "warning",
        id="reclaim-deletes",
    ),
    pytest.param(
        changed(put(SQL, "metadata/annotations", PROTECTED["annotations"])),
        [put(SQL, "metadata/annotations", None)],
        "protection-ends",
        "note",
        id="protection-ends",
    ),
    pytest.param(
        changed(put(SQL, "metadata/annotations", PROTECTED["annotations"])),
        [set_file(SQL, None)],
        "protected",
        "warning",
        id="protected",
    ),
    pytest.param(
        store(),
        [
            put(STORE, "spec/to/0/connectionDetails/2", None),
            put(PROMISE, "spec/connectionDetails", ["username", "address"]),
        ],
        "secret-key-missing",
        "warning",
        id="a-key-less",
    ),
    pytest.param(
        changed(put(SQL, "spec/classRef/name", "db")),
        [put(CLASS, f"{SERVER_AT}/writeConnectionSecretToRef", None)],
        "secret-key-missing",
        "warning",
        id="a-source-less",
    ),
    pytest.param(
        store(**ACCOUNT),
        [put(PROMISE, "spec/serviceAccountRef", None)],
        "account-widened",
        "warning",
        id="the-stacks-own-rights",
    ),
    pytest.param(
        store(**ACCOUNT),
        [put(PROMISE, "spec/serviceAccountRef/name", "root")],
        "account-moves",
        "warning",
        id="another-account",
    ),
    pytest.param(changed(role("get")), [role("get", "list")], "rights-widened", "warning", id="a-role-that-grows"),
    pytest.param(changed(), [role("impersonate")], "rights-unlimited", "danger", id="a-new-role-that-impersonates"),
    pytest.param(
        changed(put(SQL, "spec/writeConnectionSecretToRef", {"name": "sql"})),
        [put(SQL, "metadata/annotations", {ADOPT: "true"})],
        "adopts",
        "warning",
        id="a-claim-that-adopts",
    ),
    pytest.param(base(), [put(SQL, "spec/sise", 20)], "claim-field-unread", "warning", id="a-field-that-nothing-reads"),
    pytest.param(changed(put(SQL, "spec/sise", 20)), [], "claim-field-unread", "warning", id="one-that-was-there"),
    pytest.param(
        changed(
            put(SQL, "spec/classRef", None),
            put(CLASS, "metadata/labels", {"a": "b"}),
            put(SQL, "spec/classSelector", {"matchLabels": {"a": "b"}}),
        ),
        [put(CLASS, "metadata/labels", {"a": "c"})],
        "claim-unserved",
        "danger",
        id="no-class-any-more",
    ),
]

NEW = sql("new")
NEW["spec"] = {"classSelector": {"matchLabels": {"no": "such"}}}
BAD.append(
    pytest.param(
        base(),
        [set_file("stacks/dev/claims/new.yaml", NEW)],
        "claim-unserved",
        "warning",
        id="a-new-claim-that-nothing-serves",
    )
)

GOOD = [
    pytest.param(base(), [], id="nothing-changes"),
    pytest.param(
        base(),
        [
            put(CLASS, API, "database.azure.crossplane.io/v1beta2"),
            put(
                CLASS,
                "spec/resources/1/base/metadata",
                {"annotations": {"claimsmith.io/previous-api-version": "database.azure.crossplane.io/v1beta1"}},
            ),
        ],
        id="another-api-version-that-says-what-it-was",
    ),
    pytest.param(base(), [put(SQL, "spec/size", 20)], id="a-value-in-place"),
    pytest.param(
        changed(set_file("stacks/dev/claims/new.yaml", NEW)),
        [put(SQL, "spec/size", 20)],
        id="a-claim-that-nothing-served-before-either",
    ),
    pytest.param(base(), [set_file("stacks/dev/claims/more.yaml", sql("more"))], id="a-claim-more"),
    pytest.param(
        changed(set_file(OTHER, retained("other")), set_file("stacks/dev/claims/more.yaml", sql("more", "other"))),
        [set_file("stacks/dev/claims/more.yaml", None)],
        id="what-holds-data-stays",
    ),
    pytest.param(
        changed(with_crd("self == oldSelf")), [put(SQL, "spec/size", 20)], id="another-field-than-the-rule-names"
    ),
    pytest.param(changed(with_crd("self != ''")), [put(SQL, "spec/version", "8.0")], id="a-rule-that-lets-it-change"),
    pytest.param(
        changed(put(CLASS, f"{SERVER_AT}/reclaimPolicy", "Delete")),
        [put(CLASS, f"{SERVER_AT}/reclaimPolicy", "Retain")],
        id="kept-from-now-on",
    ),
    pytest.param(base(), [put(SQL, "metadata/annotations", PROTECTED["annotations"])], id="protected-from-now-on"),
    pytest.param(
        store(),
        [put(STORE, "spec/to/0/connectionDetails/2", {"name": "port", "fromConnectionSecretKey": "p"})],
        id="a-key-from-elsewhere",
    ),
    pytest.param(changed(role("get", "list")), [role("get")], id="a-role-that-shrinks"),
    pytest.param(base(), [role("get")], id="a-new-role"),
]


@pytest.mark.parametrize(("before", "changes", "rule", "level"), BAD)
def test_what_is_warned_of(tmp_path: Path, before: Files, changes: list[Any], rule: str, level: str) -> None:
    found = reviewed(tmp_path, before, changed(*changes, start=before))
    assert found.problems == ()
    (warning, *_) = [w for w in found.warnings if w.rule == rule]
    assert warning.level == level
    assert warning.what
    assert warning.fix
    assert warning.where is not None


@pytest.mark.parametrize(("before", "changes"), GOOD)
def test_what_is_not(tmp_path: Path, before: Files, changes: list[Any]) -> None:
    found = reviewed(tmp_path, before, changed(*changes, start=before))
    assert found.problems == ()
    assert [w.rule for w in found.warnings] == []


def test_every_rule_has_a_row() -> None:
    from claimsmith.tools.review import warnings

    source = Path(warnings.__file__).read_text(encoding="utf-8")
    rules = {row.values[2] for row in BAD}
    assert all(f'"{rule}"' in source for rule in rules)
    reported = set(re.findall(r'(?:ReviewWarning\(|_of\(\w+(?:\.\w+)?, )"([a-z-]+)"', source))
    assert reported == rules


def test_the_loudest_come_first(tmp_path: Path) -> None:
    before = changed(put(SQL, "metadata/annotations", PROTECTED["annotations"]))
    after = changed(
        put(CLASS, API, "database.azure.crossplane.io/v1beta2"), put(CLASS, "spec/resources/0/base/spec/location", "x")
    )
    levels = [w.level for w in reviewed(tmp_path, before, after).warnings]
    assert levels == sorted(levels, key=list(Level).index)
    assert set(levels) == set(Level)
    assert in_order(()) == ()


@pytest.mark.parametrize(
    ("rule", "want"),
    [
        pytest.param("self == oldSelf", [("spec",)], id="itself"),
        pytest.param("oldSelf == self", [("spec",)], id="the-other-way-round"),
        pytest.param("self.a.b == oldSelf.a.b", [("spec", "a", "b")], id="a-field-below"),
        pytest.param("!has(oldSelf.a) || self.a == oldSelf.a", [("spec", "a")], id="unless-it-was-not-there"),
        pytest.param("self.a == oldSelf.a && self.b == oldSelf.b", [("spec", "a"), ("spec", "b")], id="two-of-them"),
        pytest.param("self.a == oldSelf.b", [], id="another-field"),
        pytest.param("self >= oldSelf", [], id="it-may-grow"),
        pytest.param("self == oldSelf || self == 'x'", [], id="with-a-way-out"),
        pytest.param("self.size() > 0", [], id="nothing-to-do-with-before"),
    ],
)
def test_rules_of_definitions(rule: str, want: list[Any]) -> None:
    spec = {"type": "object", "x-kubernetes-validations": [{"rule": rule}]}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    crd = {"spec": {"group": "g.io", "names": {"kind": "Thing"}, "versions": [{"name": "v1", "schema": schema}]}}
    found = rules_of([crd])
    assert [path for path, _ in found.get(GroupKind("g.io", "Thing"), ())] == want


def rules(*listed: dict[str, list[str]]) -> dict[str, Any]:
    return {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": list(listed)}


def allow(*verbs: str, resources: str = "pods", groups: str = "", **more: Any) -> dict[str, Any]:
    return {"apiGroups": [groups], "resources": [resources], "verbs": list(verbs), **more}


def bound(*subjects: str, role: str = "r") -> dict[str, Any]:
    listed = [{"kind": "ServiceAccount", "namespace": "x", "name": name} for name in subjects]
    reference = {"kind": "ClusterRole", "name": role}
    return {
        "apiVersion": RBAC,
        "kind": "RoleBinding",
        "metadata": {"name": "b"},
        "roleRef": reference,
        "subjects": listed,
    }


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        pytest.param(rules(allow("get")), rules(allow("get", "list")), ["may list pods"], id="a-verb"),
        pytest.param(rules(allow("get")), rules(allow("*")), ["may * pods"], id="every-verb"),
        pytest.param(rules(allow("*")), rules(allow("get")), [], id="fewer"),
        pytest.param(rules(allow("get", resourceNames=["a"])), rules(allow("get")), ["may get pods"], id="all-names"),
        pytest.param(rules(allow("get")), rules(allow("get", resourceNames=["a"])), [], id="one-name"),
        pytest.param(
            rules(allow("get")), rules(allow("get", groups="apps")), ["may get pods.apps"], id="another-group"
        ),
        pytest.param(rules(), rules({"nonResourceURLs": ["/x"], "verbs": ["get"]}), ["may get /x"], id="a-url"),
        pytest.param(bound("a"), bound("a", "b"), ["ServiceAccount x/b gets ClusterRole r"], id="a-subject"),
        pytest.param(bound("a"), bound("a", role="z"), ["ServiceAccount x/a gets ClusterRole z"], id="another-role"),
        pytest.param(bound("a", "b"), bound("a"), [], id="a-subject-less"),
        pytest.param(None, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}, [], id="another-kind"),
    ],
)
def test_rights_that_grow(old: Any, new: Any, want: list[str]) -> None:
    assert widened(old, new) == want


@pytest.mark.parametrize(
    ("content", "path"),
    [
        pytest.param({"imutable": {}}, "imutable", id="an-unknown-field"),
        pytest.param({"immutable": {SERVER_KIND: "spec.x"}}, f"immutable[{SERVER_KIND}]", id="no-list"),
        pytest.param({"immutable": {SERVER_KIND: ["spec..x"]}}, "", id="no-path"),
    ],
)
def test_a_table_that_cannot_be_read(tmp_path: Path, content: Any, path: str) -> None:
    found = reviewed(tmp_path, base(), changed(set_file(KINDS, content)))
    assert found.unread == "working tree"
    [problem] = found.problems
    assert problem.where is not None
    assert problem.where.file == KINDS
    assert problem.path == path or not path
    assert problem.fix
