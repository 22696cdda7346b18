from __future__ import annotations

import ast
from typing import Any

import pytest

from claimsmith import deploy, generate
from claimsmith.base.errors import GenerateError, ReferenceError_
from claimsmith.generate.arguments import fields_of
from claimsmith.generate.component import IMPORTED
from claimsmith.generate.expression import Expression, either, identifier, literal, read_of
from claimsmith.patching import transforms
from tests.support.samples import BUCKET, catalog_of, class_data, one_class, patch, table


def source(*classes: dict[str, Any], file: str = "components/x/class.yaml") -> str:
    return generate.generate(list(catalog_of(list(classes)).classes.values()), table(), source=file)


@pytest.mark.parametrize(
    ("name", "want"),
    [
        pytest.param("private-mysql-server", "PrivateMySQLServer", id="words"),
        pytest.param("gke-cluster", "GKECluster", id="acronym"),
        pytest.param("small.v2", "SmallV2", id="dot"),
        pytest.param("9lives", "Class9lives", id="digit-first"),
        pytest.param("none", "NoneClass", id="pythons-none"),
        pytest.param("composite", "CompositeClass", id="what-it-inherits"),
        pytest.param("claim-kind", "ClaimKindClass", id="what-it-imports"),
        pytest.param("any", "AnyClass", id="what-typing-gives"),
    ],
)
def test_class_name(name: str, want: str) -> None:
    assert generate.class_name(one_class(class_data(name))) == want


def test_the_name_of_a_kind_with_dashes() -> None:
    """A kind may have what no name of Python may."""
    base = {"apiVersion": "acme.example.org/v1", "kind": "Thing"}
    composition = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "net"},
        "spec": {
            "compositeTypeRef": {"apiVersion": "example.org/v1", "kind": "XNet-work"},
            "resources": [{"name": "a", "base": base}],
        },
    }
    code = source(composition)
    compile(code, "component.py", "exec", dont_inherit=True)
    assert "class NetWork(" in code


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("my-sql-server", "my_sql_server", id="dashes"),
        pytest.param("storageMB", "storage_mb", id="camel"),
        pytest.param("virtualNetworkSubnetIdRef", "virtual_network_subnet_id_ref", id="long-camel"),
        pytest.param("class", "class_", id="keyword"),
        pytest.param("match", "match_", id="soft-keyword"),
        pytest.param("9lives", "n9lives", id="digit"),
        pytest.param("漢字", "value", id="nothing-left"),
        pytest.param('x"; import os', "x___import_os", id="hostile"),
    ],
)
def test_identifier(text: str, want: str) -> None:
    assert identifier(text) == want
    assert want.isidentifier()


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("spec.size", "field(spec, 'size')", id="field"),
        pytest.param(".spec.size", "field(spec, 'size')", id="leading-dot"),
        pytest.param("spec.place.zone", "field(spec, 'place.zone')", id="deep"),
        pytest.param("spec", "spec", id="the-whole-spec"),
        pytest.param("metadata.uid", "self.claim.uid", id="uid"),
        pytest.param("metadata.labels.a", "field(args, 'metadata.labels.a')", id="label"),
        pytest.param("spec['a.b']", "field(spec, '[a.b]')", id="field-with-a-dot"),
        pytest.param("spec.tags[0]", "field(spec, 'tags[0]')", id="index"),
    ],
)
def test_read_of(path: str, want: str) -> None:
    assert read_of(path).code == want


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": [1, 2.5, True, None, "x"], "b": {}}, id="nested"),
        pytest.param('quote " and \' and """ and \\', id="quotes"),
        pytest.param("line\nbreak\r\t\x00\u202e", id="control-characters"),
        pytest.param({"{{ x }}": "{% y %}"}, id="jinja"),
        pytest.param([], id="empty"),
        pytest.param([[1], {}], id="lists"),
    ],
)
def test_literals_say_what_they_are(value: Any) -> None:
    assert ast.literal_eval(literal(value).code) == value


def test_a_value_that_is_always_there_needs_no_default() -> None:
    assert either(Expression("x", may_be_absent=False), literal(1)).code == "x"
    assert either(Expression("x"), literal(1)).code == "default(x, 1)"


def test_no_variable_hides_what_a_component_may_use() -> None:
    assert set(deploy.__all__) <= IMPORTED


def test_every_transform_can_be_imported() -> None:
    public = {n for n, f in vars(transforms).items() if callable(f) and hasattr(f, "__wrapped__")}
    assert public <= set(deploy.__all__)


def arguments(*patches: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    base = {**BUCKET, "spec": {"text": "t", "number": 1, "yes": True, "ratio": 1.5, "list": []}}
    return {
        a.name: (a.type, a.required)
        for a in fields_of(one_class(class_data("c", {"base": base, "patches": list(patches)})))
    }


REQUIRED = {"policy": {"fromFieldPath": "Required"}}
MAP = {"type": "map", "map": {"a": "b"}}
MATH = {"type": "math", "math": {"multiply": 2}}


@pytest.mark.parametrize(
    ("patches", "want"),
    [
        pytest.param([patch("spec.a", "spec.text")], {"a": ("str", False)}, id="the-bases-text"),
        pytest.param([patch("spec.a", "spec.number")], {"a": ("int", False)}, id="the-bases-number"),
        pytest.param([patch("spec.a", "spec.yes")], {"a": ("bool", False)}, id="the-bases-truth"),
        pytest.param([patch("spec.a", "spec.list")], {"a": ("Any", False)}, id="the-bases-list"),
        pytest.param([patch("spec.a", "spec.new")], {"a": ("Any", False)}, id="not-in-the-base"),
        pytest.param([patch("spec.a", "spec.x", MAP)], {"a": ("str", False)}, id="looked-up"),
        pytest.param([patch("spec.a", "spec.x", MATH)], {"a": ("int", False)}, id="multiplied"),
        pytest.param([patch("spec.a.b", "spec.x")], {"a": ("dict[str, Any]", False)}, id="deep"),
        pytest.param([patch("spec.a", "spec.text", **REQUIRED)], {"a": ("str", True)}, id="required"),
        pytest.param(
            [patch("spec.a", "spec.text"), patch("spec.a", "spec.number")], {"a": ("Any", False)}, id="two-types"
        ),
        pytest.param([patch("metadata.uid", "spec.text")], {}, id="not-of-the-spec"),
        pytest.param([patch("spec['a-b']", "spec.text")], {"a-b": ("str", False)}, id="no-name"),
        pytest.param([patch("spec.class", "spec.text")], {"class": ("str", False)}, id="keyword"),
        pytest.param([patch("spec.__a", "spec.text")], {"__a": ("str", False)}, id="name-that-python-mangles"),
        pytest.param([patch("spec[*]", "spec.text")], {}, id="any-field"),
    ],
)
def test_arguments(patches: list[dict[str, Any]], want: dict[str, tuple[str, bool]]) -> None:
    assert arguments(*patches) == want


def test_the_head_names_the_source_and_the_command() -> None:
    first = source(class_data("a")).splitlines()[0]
    assert first == "# Generated by claimsmith from components/x/class.yaml. Edit that, then run: claimsmith generate"


def test_a_path_cannot_leave_its_comment() -> None:
    tree = ast.parse(source(class_data("a"), file="components/x\nimport os\n/class.yaml"))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Import) and n.names[0].name == "os"]


def test_the_head_carries_a_digest_of_all_the_rest() -> None:
    digest = generate.digest_of(source(class_data("a")).encode())
    others = [source(class_data("a"), file="components/y/class.yaml"), source(class_data("b"))]
    assert digest
    assert digest == generate.digest_of(source(class_data("a")).encode())
    assert digest not in {generate.digest_of(other.encode()) for other in others}


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"import os\n# Digest: sha256:0\n", id="not-in-the-head"),
        pytest.param(b"\xff\xfe", id="no-text"),
    ],
)
def test_a_module_without_a_digest(module: bytes) -> None:
    assert generate.digest_of(module) is None


def test_several_classes_of_one_folder() -> None:
    tree = ast.parse(source(class_data("a"), class_data("b")))
    assert [n.name for n in tree.body if isinstance(n, ast.ClassDef)] == ["ASpec", "AArgs", "A", "BSpec", "BArgs", "B"]


def test_a_spec_that_nobody_reads_is_not_taken_apart() -> None:
    base = {**BUCKET, "spec": {"note": "read the spec first"}}
    assert 'spec = args["spec"]' not in source(class_data("a", {"base": base}))


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("a-b", "a.b"), id="one-name"),
        pytest.param(("foo", "foo-spec"), id="the-name-of-anothers-spec"),
        pytest.param(("foo", "foo-args"), id="the-name-of-anothers-args"),
    ],
)
def test_classes_that_would_have_one_name(names: tuple[str, str]) -> None:
    with pytest.raises(GenerateError) as caught:
        source(*map(class_data, names))
    [problem] = caught.value.problems
    assert problem.path == "metadata.name"
    assert problem.fix


def test_a_selector_that_matches_nothing_is_refused_with_its_line() -> None:
    server = {
        "apiVersion": "database.azure.crossplane.io/v1beta1",
        "kind": "MySQLServer",
        "spec": {"resourceGroupNameSelector": {"matchComposite": True}},
    }
    with pytest.raises(ReferenceError_) as caught:
        source(class_data("a", {"base": server}))
    [problem] = caught.value.problems
    assert problem.where.file == "platform.yaml"
    assert problem.path == "spec.resourceGroupNameSelector"


def test_labels_of_a_selector_may_come_from_the_claim() -> None:
    subnet = {
        "apiVersion": "compute.gcp.crossplane.io/v1beta1",
        "kind": "Subnetwork",
        "spec": {"networkSelector": {"matchLabels": {"env": "dev"}}},
    }
    labels = patch("spec.env", "spec.networkSelector.matchLabels.env")
    text = source(class_data("a", {"base": subnet, "patches": [labels]}))
    assert "{'env': default(field(spec, 'env'), 'dev')}" in text
    assert "    default,\n" in text


def test_a_selector_stays_in_force_where_an_optional_patch_sets_nothing() -> None:
    network = {"apiVersion": "compute.gcp.crossplane.io/v1beta1", "kind": "Network"}
    subnet = {**network, "kind": "Subnetwork", "spec": {"networkSelector": {"matchComposite": True}}}
    optional = patch("spec.network", "spec.network")
    assert "networkRef" in source(class_data("a", {"base": network}, {"base": subnet, "patches": [optional]}))


@pytest.mark.parametrize("name", ["fields", "class", "é", "__name"])
def test_a_field_that_cannot_be_an_argument_stands_in_a_mapping(name: str) -> None:
    base = {"apiVersion": "v1", "kind": "Thing", "data": {}, name: 1}
    [call] = [n for n in ast.walk(ast.parse(source(class_data("a", {"base": base})))) if is_child(n)]
    written = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg in ("data", "fields")}
    assert written == {"data": {}, "fields": {name: 1}}


def is_child(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "self.child"


def test_patches_of_other_fields_stay_literals_beside_a_statement() -> None:
    base = {"apiVersion": "v1", "kind": "Thing", "spec": {"list": [{"a": 1}], "open": {}}}
    patches = [
        patch("spec.a", "spec.list[*].a"),
        patch("spec.b", "spec.other"),
        patch("spec.c", "spec.list[0].a"),
        {**patch("spec.d", "spec.open.d"), "policy": {"fromFieldPath": "Required"}},
        patch("spec.e", "spec.open.e"),
    ]
    text = source(class_data("a", {"base": base, "patches": patches}))
    assert [line.strip() for line in text.splitlines() if line.strip().startswith("write(")] == [
        "write(thing_fields, 'spec.list[*].a', field(spec, 'a'))",
        "write(thing_fields, 'spec.list[0].a', field(spec, 'c'))",
    ]
    assert "'open': {'d': require(field(spec, 'd'), 'spec.d'), 'e': field(spec, 'e'),}" in text
