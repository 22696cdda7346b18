"""Native resources of classes: their form, interpolations, selectors and connection details, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import CatalogError, EngineError
from claimsmith.base.values import Interpolation, SiblingOutput, escaped
from claimsmith.dialects.common import ordering
from claimsmith.dialects.common.interpolations import interpolation
from claimsmith.dialects.common.klass import Class, Detail
from tests.support.native_plans import CONFIG_MAP, DATABASE, PASSWORD, ROLE, native_class
from tests.support.native_plans import native as resource
from tests.support.samples import catalog_of, one_class, patch


def read(*resources: dict[str, Any], **metadata: Any) -> Class:
    return one_class(native_class(*resources, **metadata))


def base(*resources: dict[str, Any], template: str) -> Any:
    return next(t.base for t in read(*resources).templates if t.name == template)


# Bases


def test_a_class_of_native_resources() -> None:
    password, role, database = read().templates
    assert all(t.native and not t.managed and not t.composite for t in (password, role, database))
    assert role.base == {
        "type": "postgresql:Role",
        "properties": {"login": True, "password": Interpolation((SiblingOutput("password", ("result",)),))},
        "options": {"provider": "main"},
    }
    assert (password.kind, password.details, database.details) == (
        "RandomPassword",
        (),
        (
            Detail("database", "", field_path="outputs.name"),
            Detail("username", "", field_path="outputs.name", from_resource="role"),
            Detail("password", "", field_path="outputs.result", from_resource="password"),
            Detail("host", "", config="postgresql:host"),
        ),
    )


def test_a_template_without_a_name_is_called_after_its_type() -> None:
    unnamed = {"base": {"type": "aws:s3:BucketPolicy"}}
    assert [t.name for t in read(unnamed, unnamed).templates] == ["bucket-policy", "bucket-policy-2"]


OPTIONS = {
    "additionalSecretOutputs": ["result"],
    "aliases": ["old"],
    "customTimeouts": {"create": "20m"},
    "deleteBeforeReplace": True,
    "dependsOn": ["password"],
    "ignoreChanges": ["tags", "rules[0].name"],
    "import": "orders",
    "protect": True,
    "provider": "main",
    "replaceOnChanges": ["name"],
    "retainOnDelete": True,
}


@pytest.mark.parametrize(
    ("given", "want"),
    [
        pytest.param({"options": OPTIONS}, OPTIONS, id="all-options-of-pulumi-yaml"),
        pytest.param({"options": {"dependsOn": "${password}"}}, {"dependsOn": ["password"]}, id="one-in-pulumis-form"),
        pytest.param({"options": {"ignoreChanges": "tags"}}, {"ignoreChanges": ["tags"]}, id="one-text-is-a-list"),
        pytest.param({"options": None}, None, id="null-is-left-out"),
        pytest.param(
            {"metadata": {"annotations": {"claimsmith.io/protect": "true", "claimsmith.io/timeout": "5m"}}},
            {"customTimeouts": {"create": "5m", "update": "5m", "delete": "5m"}, "protect": True},
            id="annotations-are-options",
        ),
        pytest.param(
            {
                "metadata": {"annotations": {"claimsmith.io/controller-owned": "tags, size"}},
                "options": {"ignoreChanges": ["name"]},
            },
            {"ignoreChanges": ["name", "tags", "size"]},
            id="fields-that-others-own",
        ),
    ],
)
def test_options(given: dict[str, Any], want: Any) -> None:
    assert base(PASSWORD, resource("pet", **given), template="pet").get("options") == want


@pytest.mark.parametrize(
    ("given", "path", "fix"),
    [
        pytest.param({"propertys": {}}, "base.propertys", "'properties'", id="misspelt-part"),
        pytest.param({"spec": {}}, "base.spec", "known here", id="a-spec"),
        pytest.param({"options": {"protekt": True}}, "base.options.protekt", "'protect'", id="misspelt-option"),
        pytest.param({"options": {"parent": "x"}}, "base.options.parent", "known here", id="an-option-that-is-ours"),
        pytest.param(
            {"options": {"version": "1.2.3"}}, "base.options.version", "known here", id="versions-follow-the-sdk"
        ),
        pytest.param({"options": {"protect": "yes"}}, "base.options.protect", "fix", id="an-option-of-another-type"),
        pytest.param({"options": {"dependsOn": ["passwd"]}}, "dependsOn[0]", "'password'", id="depends-on-a-stranger"),
        pytest.param({"options": {"dependsOn": ["pet"]}}, "dependsOn[0]", "password", id="depends-on-itself"),
        pytest.param(
            {"options": {"customTimeouts": {"create": "soon"}}}, "customTimeouts.create", "20m", id="no-duration"
        ),
        pytest.param({"options": {"ignoreChanges": ["a[0"]}}, "ignoreChanges", "close it", id="no-path"),
        pytest.param({"properties": []}, "base.properties", "fix", id="properties-that-are-no-object"),
        pytest.param(
            {"metadata": {"annotations": {"claimsmith.io/adopt": "true"}}},
            "adopt",
            "claimsmith.io/",
            id="adopt-is-no-import",
        ),
        pytest.param(
            {"metadata": {"annotations": {"claimsmith.io/protct": "true"}}},
            "protct",
            "protect",
            id="misspelt-annotation",
        ),
        pytest.param({"metadata": {"name": "x"}}, "metadata.name", "known here", id="a-name"),
    ],
)
def test_bases_that_are_refused(given: dict[str, Any], path: str, fix: str) -> None:
    refused(path, fix, PASSWORD, resource("pet", **given))


def refused(path: str, fix: str, *resources: dict[str, Any]) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of([native_class(*resources)])
    [problem] = caught.value.problems
    assert (path in problem.path, fix in problem.fix) == (True, True), problem
    assert problem.where is not None


@pytest.mark.parametrize(
    ("type_", "want"),
    [
        pytest.param("Bucket", "aws:s3:Bucket", id="no-package"),
        pytest.param("aws:s3:bucket", "package", id="lower-case"),
    ],
)
def test_types_that_are_refused(type_: str, want: str) -> None:
    refused("base.type", want, resource("b", type_))


def test_a_base_is_native_or_not() -> None:
    refused("resources[0]", "or the type of a native one", {"base": {"type": "aws:s3:Bucket", "kind": "Bucket"}})


# Interpolations


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("costs $5", "costs $5", id="a-lone-dollar"),
        pytest.param("$${a.b}", "${a.b}", id="escaped"),
        pytest.param("a$$b", "a$b", id="two-dollars-are-one"),
        pytest.param("${a.b}", Interpolation((SiblingOutput("a", ("b",)),)), id="alone"),
        pytest.param("${ a.b }", Interpolation((SiblingOutput("a", ("b",)),)), id="spaces"),
        pytest.param("${a.b.c[0].d}", Interpolation((SiblingOutput("a", ("b", "c", 0, "d")),)), id="nested"),
        pytest.param("${[a.b].c}", Interpolation((SiblingOutput("a.b", ("c",)),)), id="a-name-with-a-dot"),
        pytest.param(
            "x-${a.b}/${c.d}$${e}",
            Interpolation(("x-", SiblingOutput("a", ("b",)), "/", SiblingOutput("c", ("d",)), "${e}")),
            id="several",
        ),
        pytest.param("$$${a.b}", Interpolation(("$", SiblingOutput("a", ("b",)))), id="a-dollar-before-one"),
        pytest.param(5, 5, id="a-number"),
        pytest.param(None, None, id="null"),
    ],
)
def test_interpolations(text: Any, want: Any) -> None:
    found = interpolation(text)
    assert found == want
    written = str(found) if isinstance(found, Interpolation) else escaped(found) if isinstance(found, str) else found
    assert interpolation(written) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("${role}", "which output", id="no-output"),
        pytest.param("${}", "no sibling", id="empty"),
        pytest.param("${[0].x}", "no sibling", id="an-index"),
        pytest.param("${a.b", "closing brace", id="not-closed"),
        pytest.param("${a..b}", "unexpected", id="no-path"),
        pytest.param("${a.b} ${", "closing brace", id="the-second-not-closed"),
    ],
)
def test_interpolations_that_are_refused(text: str, want: str) -> None:
    with pytest.raises(EngineError) as caught:
        interpolation(text)
    [problem] = caught.value.problems
    assert want in problem.what
    assert problem.fix


def test_every_bad_interpolation_of_a_base_is_reported_at_its_place() -> None:
    with pytest.raises(CatalogError) as caught:
        read(resource("pet", properties={"a": "${x", "b": ["${y}"]}))
    assert [p.path for p in caught.value.problems] == [
        "spec.resources[0].base.properties.a",
        "spec.resources[0].base.properties.b[0]",
    ]


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        pytest.param("${passwrd.result}", "'password'", id="misspelt"),
        pytest.param("${pet.id}", "use one of: password, config", id="itself"),
        pytest.param("${pulumi.stack}", "use one of", id="pulumis-own"),
        pytest.param("${config.id}", "config.metadata.name", id="an-output-of-a-kubernetes-object"),
    ],
)
def test_outputs_that_no_sibling_has(text: str, fix: str) -> None:
    config = {"name": "config", "base": CONFIG_MAP}
    refused("base.properties.prefix", fix, PASSWORD, config, resource("pet", properties={"prefix": text}))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("${password.result}", Interpolation((SiblingOutput("password", ("result",)),)), id="an-output"),
        pytest.param(
            "p=${password.result};", Interpolation(("p=", SiblingOutput("password", ("result",)), ";")), id="in-a-text"
        ),
        pytest.param("echo ${HOME} ${#list} ${x.y} $$", "echo ${HOME} ${#list} ${x.y} $$", id="a-script-is-left-alone"),
        pytest.param("${password}", "${password}", id="a-variable-of-a-script"),
        pytest.param("$${password.result}", "${password.result}", id="escaped"),
        pytest.param("${config.data.x}", "${config.data.x}", id="only-native-siblings-count"),
    ],
)
def test_outputs_in_kubernetes_objects(text: str, want: Any) -> None:
    config = {"name": "config", "base": {**CONFIG_MAP, "data": {"x": text}}}
    assert base(PASSWORD, config, template="config")["data"]["x"] == want


def test_a_class_without_native_resources_has_no_interpolations() -> None:
    config = {"name": "config", "base": {**CONFIG_MAP, "data": {"x": "${other.result} $${y}"}}}
    other = {"name": "other", "base": CONFIG_MAP}
    assert base(config, other, template="config")["data"]["x"] == "${other.result} $${y}"


# Order


def test_templates_come_after_the_siblings_that_they_read() -> None:
    klass = read(DATABASE, ROLE, PASSWORD)
    assert [o.name for o in ordering.operations(klass)] == ["password", "role", "database"]
    assert ordering.needs(klass) == {
        "database": [("role", "properties.owner")],
        "role": [("password", "properties.password")],
    }


def test_a_status_that_a_native_resource_needs_is_waited_for() -> None:
    cluster = {"name": "cluster", "base": {"apiVersion": "a.org/v1", "kind": "Cluster"}}
    pet = resource("pet", properties={"prefix": "${cluster.status.endpoint}", "suffix": "${cluster.metadata.name}"})
    assert ordering.awaited(read(pet, cluster)) == {"cluster": ("status.endpoint",)}


def test_a_circle_is_refused_by_name() -> None:
    with pytest.raises(CatalogError) as caught:
        read(
            resource("a", properties={"x": "${b.id}"}),
            resource("b", properties={"y": "${c.id}"}),
            resource("c", options={"dependsOn": ["a"]}),
        )
    [problem] = caught.value.problems
    assert "a needs b (properties.x); b needs c (properties.y); c needs a (options.dependsOn)" in problem.what
    assert problem.fix


# Selectors


def picking(**selector: Any) -> dict[str, Any]:
    return resource("pet", properties={"ownerSelector": selector})


ONE = resource("one", "postgresql:Role", metadata={"labels": {"use": "admin"}})
TWO = resource("two", "postgresql:Role", metadata={"labels": {"use": "app"}})


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param({"matchComposite": True, "matchLabels": {"use": "app"}}, "${two.id}", id="by-label"),
        pytest.param(
            {"matchControllerRef": True, "type": "random:RandomPassword", "output": "result"},
            "${password.result}",
            id="by-type-with-its-output",
        ),
        pytest.param(
            {"matchComposite": True, "type": "postgresql:index/role:Role", "matchLabels": {"use": "admin"}},
            "${one.id}",
            id="a-full-token",
        ),
    ],
)
def test_selectors(selector: dict[str, Any], want: str) -> None:
    found = base(PASSWORD, ONE, TWO, picking(**selector), template="pet")["properties"]
    assert list(found) == ["owner"]
    assert str(found["owner"]) == want


def test_a_value_wins_over_its_selector() -> None:
    pet = resource("pet", properties={"owner": "me", "ownerSelector": {"matchComposite": True}})
    assert base(PASSWORD, pet, template="pet")["properties"] == {"owner": "me"}


@pytest.mark.parametrize(
    "properties",
    [
        pytest.param({"labelSelector": {"matchLabels": {"a": "b"}}}, id="a-selector-of-the-provider"),
        pytest.param({"Selector": {"matchComposite": True}}, id="no-property-before-it"),
        pytest.param({"ownerSelector": "text"}, id="a-text"),
    ],
)
def test_properties_that_are_no_selectors(properties: dict[str, Any]) -> None:
    assert base(PASSWORD, resource("pet", properties=properties), template="pet")["properties"] == properties


@pytest.mark.parametrize(
    ("selector", "fix"),
    [
        pytest.param({"matchComposite": True, "type": "postgresql:Rule"}, "'postgresql:Role'", id="no-such-type"),
        pytest.param({"matchComposite": True, "type": "postgresql:Role"}, "matchLabels", id="two-fit"),
        pytest.param({"matchComposite": True, "matchLabels": {"use": "x"}}, "use one of", id="no-such-label"),
        pytest.param({"matchComposite": False}, "matchComposite: true", id="not-among-siblings"),
        pytest.param({"matchComposite": True, "policy": {}}, "known here", id="unknown-word"),
        pytest.param({"matchComposite": True, "type": "Role"}, "package:module:Name", id="no-token"),
        pytest.param({"matchComposite": True, "output": "a["}, "close it", id="no-path"),
    ],
)
def test_selectors_that_are_refused(selector: dict[str, Any], fix: str) -> None:
    refused("base.properties.ownerSelector", fix, PASSWORD, ONE, TWO, picking(**selector))


def test_a_selector_cannot_be_patched() -> None:
    pet = picking(matchComposite=True, type="random:RandomPassword")
    pet["patches"] = [patch("spec.use", "properties.ownerSelector.matchLabels.use")]
    refused("ownerSelector", "patch properties.owner instead", PASSWORD, pet)


# Patches and details


@pytest.mark.parametrize(
    ("to", "fix"),
    [
        pytest.param("spec.name", "below properties", id="a-spec"),
        pytest.param("propertys.name", "'properties'", id="misspelt"),
        pytest.param("properties", "below properties", id="all-of-them"),
        pytest.param("type", "below properties", id="the-type"),
        pytest.param("options.import", "below properties", id="an-import"),
        pytest.param("options.protect", "below properties", id="a-protection"),
        pytest.param("metadata.name", "below properties", id="the-name"),
        pytest.param("metadata.annotations[claimsmith.io/protect]", "below properties", id="an-annotation"),
    ],
)
def test_patches_that_are_refused(to: str, fix: str) -> None:
    refused("patches[0]", fix, {**resource("pet"), "patches": [patch("spec.x", to)]})


@pytest.mark.parametrize("to", ["properties.name", "properties.tags[a.b]", "options.provider", "metadata.labels.use"])
def test_patches(to: str) -> None:
    [template] = read({**resource("pet"), "patches": [patch("spec.x", to)]}).templates
    assert template.patches[0].to == to


@pytest.mark.parametrize(
    ("detail", "path", "fix"),
    [
        pytest.param({"name": "a"}, "connectionDetails[0]", "keep one of", id="no-source"),
        pytest.param(
            {"name": "a", "fromFieldPath": "outputs.x", "value": "y"},
            "connectionDetails[0]",
            "keep one",
            id="two-sources",
        ),
        pytest.param({"fromFieldPath": "outputs.x"}, "connectionDetails[0]", "name", id="no-name"),
        pytest.param(
            {"name": "a", "fromFieldPath": "outputs.x", "fromResource": "passwrd"},
            "fromResource",
            "'password'",
            id="stranger",
        ),
        pytest.param(
            {"name": "a", "fromConfig": "a:b", "fromResource": "password"},
            "fromResource",
            "remove",
            id="config-of-a-resource",
        ),
        pytest.param({"fromConnectionSecretKey": "key"}, "connectionDetails[0]", "outputs", id="no-secret-to-read"),
    ],
)
def test_details_that_are_refused(detail: dict[str, Any], path: str, fix: str) -> None:
    refused(path, fix, PASSWORD, {**resource("pet"), "connectionDetails": [detail]})


# Fingerprints


def test_the_fingerprint_tells_an_interpolation_from_a_text() -> None:
    one, other = (
        read(PASSWORD, resource("pet", properties={"prefix": text})).digest()
        for text in ("${password.result}", "$${password.result}")
    )
    assert one != other
    assert one == read(PASSWORD, resource("pet", properties={"prefix": "${ password.result }"})).digest()
