"""Names and types of generated components: from kinds, compositions and schemas."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from claimsmith import deploy, generate
from claimsmith.dialects.common.klass import Class
from claimsmith.generate import text
from claimsmith.generate.claim_types import RESERVED, ClaimType
from claimsmith.generate.types import Field, Names, types_of
from claimsmith.kubernetes import schema as schemas
from tests.fuzz.safe_code import refuse_foreign
from tests.support.samples import catalog_of, class_data, one_class, table

API = "apiextensions.crossplane.io/v1"
GROUP = "database.starter.org"
OPEN: dict[str, Any] = {"type": "object", "properties": {"spec": {"type": "object", "properties": {}}}}


def definition(kind: str, claim: str = "", **schema: Any) -> dict[str, Any]:
    plural = f"{kind.lower()}s"
    version = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": schema or OPEN}}
    names = {"claimNames": {"kind": claim, "plural": f"{claim.lower()}s"}} if claim else {}
    return {
        "apiVersion": API,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "names": {"kind": kind, "plural": plural}, "versions": [version], **names},
    }


def composition(name: str, kind: str) -> dict[str, Any]:
    base = {"apiVersion": "storage.example.org/v1", "kind": "Bucket"}
    return {
        "apiVersion": API,
        "kind": "Composition",
        "metadata": {"name": name},
        "spec": {
            "compositeTypeRef": {"apiVersion": f"{GROUP}/v1", "kind": kind},
            "resources": [{"name": "b", "base": base}],
        },
    }


def classes(*documents: dict[str, Any]) -> list[Class]:
    return list(catalog_of(list(documents)).classes.values())


@pytest.mark.parametrize(
    ("kind", "name", "want"),
    [
        pytest.param(
            "XPostgreSQLInstance",
            "xpostgresqlinstances.aws.database.starter.org",
            "PostgreSQLInstanceAWS",
            id="kind-cloud-and-group",
        ),
        pytest.param("XPostgres", "postgres-on-azure", "PostgresOnAzure", id="kind-among-other-words"),
        pytest.param("XPostgres", "xpostgreses.database.starter.org", "Postgres", id="nothing-of-its-own"),
        pytest.param("XDynamoDBTable", "table.dynamodb.example.org", "DynamoDBTableExampleOrg", id="parts-of-the-kind"),
        pytest.param("Xylophone", "loud", "XylophoneLoud", id="a-word-with-x"),
        pytest.param("XIAMRole", "iam-role-v1beta1", "IAMRoleV1beta1", id="acronym-behind-the-x"),
        pytest.param("XS3Bucket", "s3.encrypted", "S3BucketEncrypted", id="acronym-with-a-digit"),
        pytest.param("XK8SCluster", "k8s", "K8SCluster", id="acronym-around-a-digit"),
        pytest.param("XOAuth2Client", "oauth2-internal", "OAuth2ClientInternal", id="word-with-a-digit"),
        pytest.param("X3Tier", "3tier-small", "X3TierSmall", id="digit-behind-the-x"),
        pytest.param("Database", "small", "DatabaseSmall", id="kind-without-x"),
        pytest.param("xExample", "example-composition", "ExampleComposition", id="small-letter"),
        pytest.param("XComposite", "composite", "CompositeClass", id="what-is-imported"),
    ],
)
def test_the_name_of_a_composition(kind: str, name: str, want: str) -> None:
    assert generate.class_names(classes(definition(kind), composition(name, kind))) == [want]


def test_claims_are_told_from_their_composites() -> None:
    found = classes(definition("XPostgres", "Postgres"), composition("postgres", "XPostgres"))
    assert generate.class_names(found) == ["Postgres", "PostgresClaim"]


def test_names_that_would_be_the_same_are_the_long_ones() -> None:
    found = classes(
        definition("XPostgres"), composition("postgres-aws", "XPostgres"), composition("aws-postgres", "XPostgres")
    )
    names = generate.class_names(found)
    assert sorted(names) == ["PostgresAWSPostgres", "PostgresPostgresAWS"]
    assert generate.class_names(found) == names


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param("XPostgres", "an XPostgres", id="letter-x"),
        pytest.param("MySQLInstance", "a MySQLInstance", id="my"),
        pytest.param("SQLInstance", "an SQLInstance", id="letter-s"),
        pytest.param("GKECluster", "a GKECluster", id="letter-g"),
        pytest.param("S3Bucket", "an S3Bucket", id="letter-and-digit"),
        pytest.param("Instance", "an Instance", id="vowel"),
        pytest.param("X", "an X", id="one-letter"),
        pytest.param("Y", "a Y", id="another-letter"),
        pytest.param("Database", "a Database", id="consonant"),
        pytest.param("User", "a User", id="spoken-as-you"),
        pytest.param("Upload", "an Upload", id="spoken-as-up"),
    ],
)
def test_article(kind: str, want: str) -> None:
    assert text.article(kind) == want


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param("t3.small", "T3_SMALL", id="dot"),
        pytest.param("5.7", "V5_7", id="digit-first"),
        pytest.param("", "EMPTY", id="nothing"),
        pytest.param("é", "EMPTY", id="no-letter-of-pythons"),
    ],
)
def test_constant(value: str, want: str) -> None:
    assert text.constant(value) == want


# Types


def typed(**properties: Any) -> dict[str, tuple[str, dict[str, tuple[str, bool]]]]:
    """The types for a spec of these properties: base and fields of each, by name."""
    required = properties.pop("required", [])
    claim = ClaimType("ClaimSpec", {"type": "object", "properties": properties, "required": required})
    found = types_of(one_class(class_data("c")), "C", claim, Names(()))
    return {t.name: (t.bases, {f.name: (f.type, f.required) for f in (*t.fields, *t.others)}) for t in found}


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "want"),
    [
        pytest.param(TEXT, "str", id="text"),
        pytest.param({"type": "integer"}, "int", id="whole-number"),
        pytest.param({"type": "number"}, "float", id="number"),
        pytest.param({"type": "boolean"}, "bool", id="truth"),
        pytest.param({"type": "array", "items": TEXT}, "list[pulumi.Input[str]]", id="list"),
        pytest.param({"type": "array"}, "list[Any]", id="list-of-anything"),
        pytest.param({"type": "object", "additionalProperties": TEXT}, "dict[str, pulumi.Input[str]]", id="map"),
        pytest.param({"type": "object"}, "dict[str, Any]", id="object-of-anything"),
        pytest.param({"x-kubernetes-int-or-string": True}, "Any", id="number-or-text"),
        pytest.param({"x-kubernetes-preserve-unknown-fields": True}, "Any", id="anything"),
        pytest.param({"type": "integer", "enum": [1, 2]}, "int", id="numbers-of-a-list"),
    ],
)
def test_plain_types(schema: dict[str, Any], want: str) -> None:
    assert typed(a=schema)["CSpec"] == ("ClaimSpec", {"a": (f"pulumi.Input[{want}]", False)})


def test_objects_and_enums_become_types_of_their_own() -> None:
    zone = {"type": "string", "enum": ["a", "b"]}
    place = {"type": "object", "properties": {"zone": zone, "rack": {"type": "integer"}}, "required": ["rack"]}
    rules = {"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}}
    assert typed(place=place, rules=rules, required=["place"]) == {
        "CPlaceZone": ("StrEnum", {"A": ("'a'", False), "B": ("'b'", False)}),
        "CPlace": (
            "TypedDict",
            {"rack": ("pulumi.Input[int]", True), "zone": ("pulumi.Input[CPlaceZone]", False)},
        ),
        "CRulesItem": ("TypedDict", {"port": ("pulumi.Input[int]", False)}),
        "CSpec": (
            "ClaimSpec",
            {
                "place": ("pulumi.Input[CPlace]", True),
                "rules": ("pulumi.Input[list[pulumi.Input[CRulesItem]]]", False),
            },
        ),
    }


def test_what_has_a_default_need_not_be_said() -> None:
    assert typed(a={**TEXT, "default": "x"}, required=["a"])["CSpec"][1] == {"a": ("pulumi.Input[str]", False)}


def test_fields_that_every_claim_has_are_the_bases() -> None:
    assert typed(classRef={"type": "object"}, a=TEXT)["CSpec"][1] == {"a": ("pulumi.Input[str]", False)}


def test_fields_that_are_no_names_stand_in_a_type_of_their_own() -> None:
    place = {"type": "object", "properties": {"from": TEXT}}
    assert typed(**{"a-b": TEXT, "class": TEXT, "__a": TEXT, "place": place}, required=["class"]) == {
        "CPlace": ("_CPlaceMore", {"from": ("pulumi.Input[str]", False)}),
        "CSpec": (
            "ClaimSpec, _CSpecMore",
            {
                "place": ("pulumi.Input[CPlace]", False),
                "class": ("pulumi.Input[str]", True),
                "a-b": ("pulumi.Input[str]", False),
                "__a": ("pulumi.Input[str]", False),
            },
        ),
    }


HOSTILE = ['x"""\nimport os\n"""', "x\nimport os", "x'); import os; ('", "# x\\", "class"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_descriptions_of_fields_never_become_code(name: str) -> None:
    inner = {"type": "object", "properties": {name: {**TEXT, "enum": ["a"], "description": name}}}
    spec = {"type": "object", "properties": {name: {**inner, "description": name}, "plain": {**inner}}}
    klass = one_class(class_data("c"))
    claim = ClaimType("ClaimSpec", spec)
    written = generate.generate([klass], table(), source="", claims={(klass.serves, klass.claim_api_version): claim})
    tree = ast.parse(written)
    refuse_foreign(tree)
    assert "import os" not in [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Import)]
    made: dict[str, Any] = {"__name__": "made"}
    exec(compile(tree, "component", "exec"), made)
    assert name in made[f"{generate.class_name(klass)}Spec"].__annotations__


def test_no_two_types_have_one_name() -> None:
    inner = {"type": "object", "properties": {"b": TEXT}}
    names = list(typed(a_b=inner, aB={"type": "object", "properties": {"c": TEXT}}))
    assert names == ["CAB", "CAB2", "CSpec"]


@pytest.mark.parametrize("base", RESERVED)
def test_the_bases_have_the_fields_that_are_reserved(base: str) -> None:
    assert set(getattr(deploy, base).__annotations__) == set(RESERVED[base])


def test_descriptions_become_docstrings_and_nothing_else() -> None:
    claim = ClaimType("ClaimSpec", {"properties": {"a": {**TEXT, "description": 'Say """no""".\n\nimport os\\'}}})
    [spec] = types_of(one_class(class_data("c")), "C", claim, Names(()))
    assert spec.fields == (Field("a", "pulumi.Input[str]", False, "Say '''no'''. import os\\\\."),)


def test_a_schemas_defaults_are_those_of_the_component() -> None:
    spec = {
        "type": "object",
        "properties": {
            "size": {**TEXT, "default": "small"},
            "place": {"type": "object", "properties": {"zone": {**TEXT, "default": "a"}, "rack": TEXT}},
            "rules": {"type": "array", "items": {"type": "object", "properties": {"port": {"default": 1}}}},
        },
    }
    catalog = catalog_of([definition("XThing", type="object", properties={"spec": spec}), composition("t", "XThing")])
    [claim] = generate.claim_types(catalog).values()
    given = {"place": {"rack": "r"}, "rules": [{}], "other": None}
    assert schemas.defaulted(given, claim.defaults) == {
        "place": {"rack": "r", "zone": "a"},
        "rules": [{"port": 1}],
        "other": None,
        "size": "small",
    }
    claims = generate.claim_types(catalog)
    source = generate.generate(list(catalog.classes.values()), table(), source="", claims=claims)
    assert "defaults={'properties'" in source
