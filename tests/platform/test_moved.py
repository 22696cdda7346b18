"""What became of a template, declared beside its class: names stay, aliases come, and mistakes are refused."""

from __future__ import annotations

from typing import Any

import pytest

from claimsmith.base.errors import CatalogError
from claimsmith.dialects.common.klass import Class, KnownAs
from claimsmith.platform.catalog import Catalog
from tests.support.samples import BUCKET, catalog_of, class_data

QUEUE = {"apiVersion": "storage.example.org/v1", "kind": "Queue", "spec": {}}
OLD_BUCKET = {**BUCKET, "apiVersion": "storage.example.org/v1alpha1"}
KEPT = {**BUCKET, "spec": {**BUCKET["spec"], "reclaimPolicy": "Retain"}}  # type: ignore[dict-item]
PET = {"type": "random:RandomPet"}
EACH = {"each": "x", "in": "spec.buckets", "key": "name"}
OLD = "storage.example.org/v1alpha1"


def klass(name: str, **bases: Any) -> dict[str, Any]:
    """A class with a template for each base; names may have dashes, written as underscores."""
    return class_data(name, *({"name": n.replace("_", "-"), "base": b} for n, b in bases.items()))


def moved(*entries: dict[str, Any], of: str = "v2", before: str | None = "v1") -> dict[str, Any]:
    head = {"apiVersion": "claimsmith.io/v1alpha1", "kind": "Moved", "class": of}
    return {**head, **({"from": before} if before else {}), "moved": list(entries)}


def renamed(before: str, after: str) -> dict[str, Any]:
    return {"renamed": {"from": before, "to": after}}


def retyped(template: str, before: str = OLD) -> dict[str, Any]:
    return {"retyped": {"template": template, "from": before}}


def split(before: str, *into: str, keeps: str) -> dict[str, Any]:
    return {"split": {"from": before, "into": list(into), "keeps": keeps}}


def joined(*before: str, to: str, keeps: str, then: str = "delete") -> dict[str, Any]:
    return {"joined": {"from": list(before), "to": to, "keeps": keeps, "then": then}}


def found(catalog: Catalog, name: str) -> Class:
    return next(c for c in catalog.classes.values() if c.name == name)


def templates_of(catalog: Catalog, name: str) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """By template: what its object is named after, and what else it may have been."""
    return {t.name: (t.named_after, [(k.name, k.type) for k in t.known_as]) for t in found(catalog, name).templates}


V1, V2 = klass("v1", a=BUCKET), klass("v2", b=BUCKET)


@pytest.mark.parametrize(
    ("documents", "v1", "v2"),
    [
        pytest.param(
            [V1, V2, moved(renamed("a", "b"))], {"a": ("a", [("b", "")])}, {"b": ("a", [])}, id="renamed-and-back"
        ),
        pytest.param([V2, moved(renamed("a", "b"), before=None)], None, {"b": ("a", [])}, id="renamed-in-place"),
        pytest.param([V2, moved(renamed("a", "b"))], None, {"b": ("a", [])}, id="the-old-class-is-gone"),
        pytest.param(
            [klass("v1", a=OLD_BUCKET), klass("v2", a=BUCKET), moved(retyped("a"))],
            {"a": ("a", [("a", "storage.example.org/v1")])},
            {"a": ("a", [("a", OLD)])},
            id="retyped-and-back",
        ),
        pytest.param(
            [klass("v1", a=OLD_BUCKET), V2, moved(renamed("a", "b"), retyped("b"))],
            {"a": ("a", [("b", "storage.example.org/v1")])},
            {"b": ("a", [("a", OLD)])},
            id="renamed-and-retyped",
        ),
        pytest.param(
            [klass("v1", a=PET), klass("v2", a={"type": "random:RandomId"}), moved(retyped("a", "random:RandomPet"))],
            {"a": ("a", [("a", "random:index/randomId:RandomId")])},
            {"a": ("a", [("a", "random:index/randomPet:RandomPet")])},
            id="native-retyped",
        ),
        pytest.param(
            [V1, klass("v2", b=BUCKET, c=BUCKET), moved(split("a", "b", "c", keeps="b"))],
            {"a": ("a", [("b", "")])},
            {"b": ("a", []), "c": ("c", [])},
            id="split",
        ),
        pytest.param(
            [V1, klass("v2", a=BUCKET, c=BUCKET), moved(split("a", "a", "c", keeps="a"))],
            {"a": ("a", [])},
            {"a": ("a", []), "c": ("c", [])},
            id="split-and-the-name-stays",
        ),
        pytest.param(
            [klass("v1", a=BUCKET, b=BUCKET), klass("v2", c=BUCKET), moved(joined("a", "b", to="c", keeps="a"))],
            {"a": ("a", [("c", "")]), "b": ("b", [])},
            {"c": ("a", [])},
            id="joined",
        ),
        pytest.param(
            [
                klass("v1", a=BUCKET, b=KEPT),
                klass("v2", c=BUCKET),
                moved(joined("a", "b", to="c", keeps="a", then="retain")),
            ],
            {"a": ("a", [("c", "")]), "b": ("b", [])},
            {"c": ("a", [])},
            id="joined-and-the-other-is-retained",
        ),
    ],
)
def test_a_line_of_templates(documents: list[dict[str, Any]], v1: Any, v2: Any) -> None:
    catalog = catalog_of(documents)
    assert templates_of(catalog, "v2") == v2
    if v1 is not None:
        assert templates_of(catalog, "v1") == v1


def test_a_line_goes_on_over_classes_and_names_that_stay() -> None:
    v3, v4 = klass("v3", b=BUCKET), klass("v4", c=BUCKET)
    documents = [V1, V2, v3, v4, moved(renamed("a", "b")), moved(of="v3", before="v2")]
    catalog = catalog_of([*documents, moved(renamed("b", "c"), of="v4", before="v3")])
    assert templates_of(catalog, "v1") == {"a": ("a", [("b", ""), ("c", "")])}
    assert templates_of(catalog, "v3") == templates_of(catalog, "v2") == {"b": ("a", [("c", "")])}
    assert templates_of(catalog, "v4") == {"c": ("a", [("b", "")])}


def test_renamed_is_previous_name_and_the_way_back_changes_no_digest() -> None:
    plain, both = catalog_of([V1, V2]), catalog_of([V1, V2, moved(renamed("a", "b"))])
    said = catalog_of([class_data("v2", {"name": "b", "previousName": "a", "base": BUCKET})])
    assert found(both, "v1").digest() == found(plain, "v1").digest()
    assert found(both, "v1").templates[0].known_as == (KnownAs("b"),)
    assert found(both, "v2").digest() == found(said, "v2").digest() != found(plain, "v2").digest()


def test_a_class_that_is_gone_is_a_warning() -> None:
    catalog = catalog_of([V2, moved(renamed("a", "b"), before="v11")])
    assert [w.what for w in catalog.warnings] == ["there is no class 'v11': what it had is not checked"]


SINGLE = {"claim": V1["spec"]["claim"], "resource": {"base": BUCKET}}
AB, BC = klass("v1", a=BUCKET, b=BUCKET), klass("v2", b=BUCKET, c=BUCKET)


@pytest.mark.parametrize(
    ("documents", "path", "word"),
    [
        pytest.param([V1, V2, moved(renamed("x", "b"))], "moved[0].renamed", "v1 has no template 'x'", id="no-source"),
        pytest.param([V1, V2, moved(renamed("a", "x"))], "moved[0].renamed", "v2 has no template 'x'", id="no-target"),
        pytest.param([V1, moved(renamed("a", "b"))], "class", "there is no class 'v2'", id="no-class"),
        pytest.param([V1, V2, moved(before="v2")], "from", "is both classes", id="one-class"),
        pytest.param([V1, V2, moved(renamed("b", "b"))], "moved[0].renamed", "the same name", id="the-same-name"),
        pytest.param(
            [AB, V2, moved(renamed("a", "b"), renamed("b", "b2"))],
            "moved[1].renamed",
            "no template 'b2'",
            id="chain-end",
        ),
        pytest.param(
            [AB, BC, moved(renamed("a", "b"), renamed("b", "c"))], "moved[0].renamed", "another name", id="chain"
        ),
        pytest.param(
            [AB, klass("v2", a=BUCKET, b=BUCKET), moved(renamed("a", "b"), renamed("b", "a"))],
            "moved[0].renamed",
            "another name",
            id="swap",
        ),
        pytest.param([AB, V2, moved(renamed("a", "b"))], "moved[0].renamed", "of v1 itself", id="the-name-was-taken"),
        pytest.param(
            [klass("v2", a=BUCKET, b=BUCKET), moved(renamed("a", "b"), before=None)],
            "moved[0].renamed",
            "of v2 itself",
            id="still-there",
        ),
        pytest.param(
            [AB, klass("v2", c=BUCKET), moved(renamed("a", "c"), renamed("b", "c"))],
            "moved[1].renamed",
            "two templates that it was before: 'a' and 'b'",
            id="two-sources",
        ),
        pytest.param(
            [V1, BC, moved(renamed("a", "b"), renamed("a", "c"))], "moved[1].renamed", "became two", id="two-targets"
        ),
        pytest.param(
            [V1, klass("v2", b=QUEUE), moved(renamed("a", "b"))],
            "moved[0].renamed",
            "another object",
            id="another-kind",
        ),
        pytest.param(
            [V1, klass("v2", b=PET), moved(renamed("a", "b"))], "moved[0].renamed", "not of one sort", id="native"
        ),
        pytest.param(
            [V1, class_data("v2", {"name": "b", "base": BUCKET, "forEach": EACH}), moved(renamed("a", "b"))],
            "moved[0].renamed",
            "not of one sort",
            id="one-and-many",
        ),
        pytest.param(
            [klass("v1", a=OLD_BUCKET), V2, moved(renamed("a", "b"))],
            "moved[0].renamed",
            f"is of {OLD}, and not of storage.example.org/v1",
            id="retyped-and-not-said",
        ),
        pytest.param(
            [V1, V2, moved(renamed("a", "b"), retyped("b"))], "moved[0].renamed", f"and not of {OLD}", id="another-type"
        ),
        pytest.param(
            [V2, moved(retyped("b", "storage.example.org/v1"))], "moved[0].retyped.from", "already", id="the-same-type"
        ),
        pytest.param([V2, moved(retyped("b", "x.org/v1"))], "moved[0].retyped.from", "another kind", id="group"),
        pytest.param([V2, moved(retyped("b", "v1 beta"))], "moved[0].retyped.from", "not an apiVersion", id="no-type"),
        pytest.param([V2, moved(retyped("b"), retyped("b"))], "moved[1].retyped", "retyped twice", id="retyped-twice"),
        pytest.param(
            [klass("v2", b=PET), moved(retyped("b", "aws:s3:Bucket"))],
            "moved[0].retyped.from",
            "another provider",
            id="provider",
        ),
        pytest.param(
            [V1, BC, moved(split("a", "b", "c", keeps="d"))], "moved[0].split", "one of them keeps", id="split-keeps"
        ),
        pytest.param(
            [V1, klass("v2", a=BUCKET, b=BUCKET), moved(split("a", "a", "b", keeps="b"))],
            "moved[0].split",
            "of v2 itself",
            id="split-name-is-taken",
        ),
        pytest.param(
            [AB, klass("v2", c=BUCKET), moved(joined("a", "b", to="c", keeps="c"))],
            "moved[0].joined",
            "of one of them is kept",
            id="joined-keeps",
        ),
        pytest.param(
            [AB, klass("v2", c=BUCKET), moved(joined("a", "b", to="c", keeps="a", then="retain"))],
            "moved[0].joined.then",
            "the object of 'b' is deleted",
            id="nothing-retains",
        ),
        pytest.param(
            [klass("v1", a=BUCKET, b=KEPT), klass("v2", c=BUCKET), moved(joined("a", "b", to="c", keeps="a"))],
            "moved[0].joined.then",
            "the object of 'b' is retained",
            id="nothing-deletes",
        ),
        pytest.param(
            [AB, BC, moved(joined("a", "b", to="c", keeps="a"))], "moved[0].joined", "is still a template", id="stays"
        ),
        pytest.param(
            [V1, class_data("v2", {"name": "b", "previousName": "z", "base": BUCKET}), moved(renamed("a", "b"))],
            "moved[0].renamed",
            "by its previousName",
            id="said-twice",
        ),
        pytest.param(
            [V1, V2, moved(renamed("a", "b")), moved(renamed("b", "a"), of="v1", before="v2")],
            "moved[0].renamed",
            "a circle",
            id="circle",
        ),
        pytest.param(
            [AB, klass("v2", c=BUCKET, d=BUCKET), moved(renamed("b", "d"), joined("a", "b", to="c", keeps="a"))],
            "moved[1].joined",
            "'b' became two templates: 'd' and 'c'",
            id="renamed-and-joined",
        ),
        pytest.param(
            [AB, klass("v2", c=BUCKET, d=BUCKET), moved(joined("a", "b", to="c", keeps="a"), renamed("b", "d"))],
            "moved[1].renamed",
            "'b' became two templates: 'c' and 'd'",
            id="joined-and-renamed",
        ),
        pytest.param(
            [
                klass("v1", a=BUCKET, b=BUCKET, x=BUCKET),
                klass("v2", c=BUCKET, d=BUCKET),
                moved(joined("a", "b", to="c", keeps="a"), joined("x", "b", to="d", keeps="x")),
            ],
            "moved[1].joined",
            "'b' became two templates: 'c' and 'd'",
            id="joined-twice",
        ),
        pytest.param(
            [V1, class_data("v2", {"name": "b", "base": BUCKET}, kind="Cache"), moved(renamed("a", "b"))],
            "from",
            "no claim can move from 'v1' to 'v2'",
            id="a-class-for-other-claims",
        ),
        pytest.param(
            [{**V1, "kind": "ResourceClass", "spec": SINGLE}, V2, moved(renamed("resource", "b"))],
            "from",
            "no claim can move from 'v1' to 'v2'",
            id="a-class-of-another-sort",
        ),
        pytest.param(
            [klass("v2", b=PET), moved(retyped("b", "notatoken"))],
            "moved[0].retyped.from",
            "'notatoken' is not the type of a Pulumi resource",
            id="no-type-of-pulumi",
        ),
        pytest.param([V1, V2, moved(renamed("a", "b")), moved(renamed("a", "b"))], "", "twice", id="two-documents"),
        pytest.param([V2, moved({**renamed("a", "b"), **retyped("b")})], "moved[0]", "is one of", id="two-in-one"),
    ],
)
def test_what_cannot_be_is_refused(documents: list[dict[str, Any]], path: str, word: str) -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of(documents)
    problem = caught.value.problems[0]
    assert word in problem.what
    assert (problem.path, problem.where.file if problem.where else "") == (path, "platform.yaml") if path else True
    assert problem.fix
    assert problem.where
    assert problem.where.line > 1


PIPED = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "Composition",
    "metadata": {"name": "v2"},
    "spec": {
        "compositeTypeRef": {"apiVersion": "database.example.org/v1alpha1", "kind": "Database"},
        "mode": "Pipeline",
        "pipeline": [
            {
                "step": "go",
                "functionRef": {"name": "function-go-templating"},
                "input": {
                    "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
                    "kind": "GoTemplate",
                    "source": "Inline",
                    "inline": {"template": "{{ .observed }}"},
                },
            }
        ],
    },
}


def test_a_pipeline_decides_by_itself_what_it_composes() -> None:
    with pytest.raises(CatalogError) as caught:
        catalog_of([PIPED, moved(renamed("a", "b"), before=None)])
    assert "its functions decide" in caught.value.problems[0].what


def test_a_resource_of_another_provider_is_handed_over_in_two_steps() -> None:
    """Imported at once, the engine would delete it with its old URN."""
    with pytest.raises(CatalogError) as caught:
        catalog_of([klass("v2", b=PET), moved(retyped("b", "aws:s3:Bucket"))])
    fix = caught.value.problems[0].fix
    assert fix.index("options.retainOnDelete first") < fix.index("claimsmith.io/import")
