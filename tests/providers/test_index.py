"""The index of an installed SDK: read from its source, compared with what Pulumi's own runtime sees in the classes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from claimsmith.base.errors import ProviderError
from claimsmith.project import sdks
from claimsmith.providers.index import Index, short_token
from claimsmith.providers.resource_types import (
    AnyType,
    EnumOf,
    ListOf,
    MapOf,
    ObjectOf,
    OneOf,
    Scalar,
    TypeRef,
    label,
)
from claimsmith.providers.tokens import Token
from tests.support.sdks import large

TEXT, WHOLE, YES = Scalar("string"), Scalar("integer"), Scalar("boolean")


def index_of_texts(texts: Mapping[str, str]) -> Index:
    return Index("toy", texts.get)


@pytest.mark.parametrize(
    ("written", "full"),
    [
        pytest.param("random:RandomPassword", "random:index/randomPassword:RandomPassword", id="no-module"),
        pytest.param("random:index:RandomPassword", "random:index/randomPassword:RandomPassword", id="index"),
        pytest.param(
            "random:index/randomPassword:RandomPassword", "random:index/randomPassword:RandomPassword", id="full"
        ),
        pytest.param("postgresql:Role", "postgresql:index/role:Role", id="postgresql"),
        pytest.param("kubernetes:core/v1:Secret", "kubernetes:core/v1:Secret", id="kubernetes"),
        large("aws:s3:Bucket", "aws:s3/bucket:Bucket", package="aws", id="aws"),
        large("aws:s3/bucket:Bucket", "aws:s3/bucket:Bucket", package="aws", id="aws-full"),
        large("gcp:sql:User", "gcp:sql/user:User", package="gcp", id="gcp"),
        large(
            "azure-native:storage:StorageAccount",
            "azure-native:storage:StorageAccount",
            package="azure-native",
            id="azure-native",
        ),
    ],
)
def test_every_form_of_a_token_finds_one_type(written: str, full: str) -> None:
    index = sdks.index_of(written.partition(":")[0])
    assert index.canonical(written) == full
    assert index.require(written) is index.require(full)
    assert index.require(Token.parse(written)) is index.require(full)
    assert index.require(written).token == full
    assert short_token(full) in index.tokens()


@pytest.mark.parametrize(
    ("token", "required", "inputs", "outputs", "secret_inputs", "secret_outputs"),
    [
        pytest.param(
            "random:RandomPassword",
            {"length"},
            {"minUpper": WHOLE, "special": YES, "keepers": MapOf(TEXT), "overrideSpecial": TEXT},
            {"result": TEXT, "id": TEXT, "urn": TEXT},
            set(),
            {"result", "bcryptHash"},
            id="random",
        ),
        pytest.param(
            "postgresql:Role",
            set(),
            {"connectionLimit": WHOLE, "login": YES, "searchPaths": ListOf(TEXT)},
            {"name": TEXT},
            {"password", "passwordWo"},
            {"password", "passwordWo"},
            id="postgresql",
        ),
        pytest.param(
            "postgresql:Function",
            {"body"},
            {"args": ListOf(ObjectOf("FunctionArgArgs"))},
            {"args": ListOf(ObjectOf("outputs.FunctionArg"))},
            set(),
            set(),
            id="nested",
        ),
        pytest.param(
            "kubernetes:core/v1:Secret",
            set(),
            {"metadata": ObjectOf("meta.v1.ObjectMetaArgs"), "stringData": MapOf(TEXT)},
            {"metadata": ObjectOf("meta.v1.outputs.ObjectMeta")},
            {"data", "stringData"},
            {"data", "stringData"},
            id="of-another-module",
        ),
        large(
            "aws:rds:Instance",
            {"instanceClass"},
            {"allocatedStorage": WHOLE, "vpcSecurityGroupIds": ListOf(TEXT)},
            {"endpoint": TEXT, "port": WHOLE},
            {"password", "passwordWo"},
            {"password", "passwordWo"},
            package="aws",
            id="aws",
        ),
        large(
            "gcp:sql:DatabaseInstance",
            {"databaseVersion"},
            {"settings": ObjectOf("sql.DatabaseInstanceSettingsArgs")},
            {"connectionName": TEXT},
            {"replicaConfiguration", "rootPassword", "rootPasswordWo"},
            {"replicaConfiguration", "rootPassword", "rootPasswordWo", "serverCaCerts"},
            package="gcp",
            id="gcp",
        ),
        large(
            "azure-native:storage:StorageAccount",
            {"kind", "resourceGroupName", "sku"},
            {"accessTier": EnumOf("storage.AccessTier", ("Hot", "Cool", "Premium", "Cold"))},
            {"primaryEndpoints": ObjectOf("storage.outputs.EndpointsResponse")},
            set(),
            set(),
            package="azure-native",
            id="azure-native",
        ),
    ],
)
def test_a_type_has_its_inputs_and_outputs(
    token: str,
    required: set[str],
    inputs: Mapping[str, TypeRef],
    outputs: Mapping[str, TypeRef],
    secret_inputs: set[str],
    secret_outputs: set[str],
) -> None:
    found = sdks.index_of(token.partition(":")[0]).require(token)
    assert {p.name for p in found.required()} == required
    assert {name: found.inputs[name].type for name in inputs} == inputs
    assert {name: found.outputs[name].type for name in outputs} == outputs
    assert {p.name for p in found.inputs.values() if p.secret} == secret_inputs
    assert {p.name for p in found.outputs.values() if p.secret} == secret_outputs


def pulumi_names(cls: type) -> dict[str, str]:
    """Python's name of each property that Pulumi's runtime finds in a class, by Pulumi's name."""
    types: Any = importlib.import_module("pulumi._types")
    is_input = types.is_input_type(cls)
    found = types.input_type_py_to_pulumi_names(cls) if is_input else types.resource_types(cls)
    translated = cls.__dict__  # outputs: the getter itself carries the name
    if is_input:
        return {pulumi: python for python, pulumi in found.items()}
    names = ((python, value) for python, value in translated.items() if isinstance(value, property))
    return {getattr(value.fget, "_pulumi_name", python): python for python, value in names}


@pytest.mark.parametrize(
    "token",
    [
        *(pytest.param(t, id=t) for package in ("random", "postgresql") for t in sdks.index_of(package).tokens()),
        large("aws:eks:Cluster", package="aws", id="aws"),
        large("gcp:container:Cluster", package="gcp", id="gcp"),
        large("azure-native:containerservice:ManagedCluster", package="azure-native", id="azure-native"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_are_those_of_pulumis_runtime(token: str) -> None:
    index = sdks.index_of(token.partition(":")[0])
    found = index.require(token)
    module = importlib.import_module(".".join(filter(None, (found.import_name, found.module))))
    arguments = getattr(module, f"{found.python_class}Args")
    assert {p.name: p.python for p in found.inputs.values()} == pulumi_names(arguments)
    outputs = {p.name: p.python for p in found.outputs.values() if p.name not in ("id", "urn")}
    assert outputs == pulumi_names(getattr(module, found.python_class))
    for kind in (p.type for p in found.inputs.values()):
        item = kind.item if isinstance(kind, ListOf | MapOf) else kind
        if isinstance(item, ObjectOf):
            nested = index.object(item.name)
            assert nested is not None
            cls = importlib.import_module(".".join((found.import_name, *item.name.split(".")[:-1])))
            assert {p.name: p.python for p in nested.properties.values()} == pulumi_names(
                getattr(cls, item.name.rpartition(".")[2])
            )


def test_a_type_that_contains_itself_ends() -> None:
    index = sdks.index_of("kubernetes")
    name = "apiextensions.v1.JSONSchemaPropsArgs"
    found = index.object(name)
    assert found is not None
    assert found.properties["properties"].type == MapOf(ObjectOf(name))


def test_deprecations_are_read() -> None:
    index = sdks.index_of("postgresql")
    assert "DefaultPrivileges" in index.require("postgresql:DefaultPrivileg").deprecated
    assert index.require("postgresql:Role").deprecated == ""
    role = index.require("postgresql:Role")
    assert "encrypted_password" in role.inputs["encrypted"].deprecated
    assert role.inputs["login"].deprecated == ""
    assert role.inputs["login"].description.startswith("Defines whether role is allowed to log in.")


def test_the_provider_is_a_type_too() -> None:
    found = sdks.index_of("postgresql").provider()
    assert found is not None
    assert found.token == "pulumi:providers:postgresql"
    assert found.inputs["password"].secret
    assert found.inputs["port"].type == WHOLE


def test_nothing_is_imported() -> None:
    before = {name for name in sys.modules if name.startswith("pulumi_")}
    sdks.index_of("kubernetes").require("kubernetes:batch/v1:Job")
    assert {name for name in sys.modules if name.startswith("pulumi_")} == before


HEAD = "import pulumi\nfrom ._enums import *\nfrom .. import other as _other\n\n__all__ = []\n"
CLASS = '''
@pulumi.input_type
class ThingArgs:
    def __init__(__self__, *, size: pulumi.Input[@type], name: pulumi.Input[str] = None):
        pass

    @property
    @pulumi.getter(name="theSize")
    def size(self) -> pulumi.Input[@type]:
        """
        How large it is.
class Thing: a line that looks like the next class
        """
        return pulumi.get(self, "size")


class Thing(pulumi.CustomResource):
    def _internal_init(__self__, resource_name, size=None):
        __props__ = ThingArgs.__new__(ThingArgs)
        super(Thing, __self__).__init__('toy:index/thing:Thing', resource_name, __props__, opts)
'''
TABLE = """_utilities.register(
    resource_modules=\"\"\"
[{"pkg": "toy", "mod": "index/thing", "fqn": "pulumi_toy", "classes": {"toy:index/thing:Thing": "Thing"}}]
\"\"\",
)
"""
LEVELS = 'class Level(str, Enum):\n    """Levels."""\n    LOW = "low"\n    HIGH = "high"\n'
ENUMS = f"{LEVELS}\n\nclass Port(int, Enum):\n    NONE = -1\n"


@pytest.mark.parametrize(
    ("annotation", "want"),
    [
        pytest.param("Optional[_builtins.float]", Scalar("number"), id="number"),
        pytest.param("Mapping[str, pulumi.Input[bool]]", MapOf(YES), id="map"),
        pytest.param("Sequence[pulumi.Input['PartArgs']]", ListOf(ObjectOf("PartArgs")), id="list-of-objects"),
        pytest.param("Union['PartArgs', 'PartArgsDict', 'outputs.Part']", ObjectOf("PartArgs"), id="forms-of-one"),
        pytest.param("'Level'", EnumOf("Level", ("low", "high")), id="enum"),
        pytest.param("Union[str, 'Level']", EnumOf("Level", ("low", "high"), open=True), id="open-enum"),
        pytest.param("'Port'", EnumOf("Port", (-1,)), id="enum-of-numbers"),
        pytest.param("Union[str, int]", OneOf((TEXT, WHOLE)), id="union"),
        pytest.param("Union[str, Union[int, str]]", OneOf((TEXT, WHOLE)), id="union-in-union"),
        pytest.param("Union[pulumi.Asset, pulumi.Archive]", AnyType(), id="asset"),
        pytest.param("Any", AnyType(), id="any"),
        pytest.param("'Missing'", AnyType(), id="a-name-of-nothing"),
        pytest.param("'_other.FarArgs'", ObjectOf("other.FarArgs"), id="of-another-module"),
    ],
)
def test_annotations_are_types(annotation: str, want: TypeRef) -> None:
    texts = {
        "__init__.py": f"from .other_name import *\n{TABLE}",
        "other_name.py": (HEAD + CLASS).replace("@type", annotation).replace("from .. ", "from . "),
        "_inputs.py": "\nclass PartArgs:\n    pass\n",
        "other/_inputs.py": "\nclass FarArgs:\n    pass\n",
        "_enums.py": f"\n{ENUMS}",
    }
    found = index_of_texts(texts).require("toy:Thing")
    assert list(found.inputs) == ["theSize"]
    assert found.inputs["theSize"].type == want
    assert found.inputs["theSize"].required
    assert found.inputs["theSize"].python == "size"


@pytest.mark.parametrize(
    ("ask", "what", "fix"),
    [
        pytest.param(
            lambda: sdks.index_of("nowhere-native"),
            "the Python SDK of the provider 'nowhere-native' is not installed",
            "pip install pulumi-nowhere-native",
            id="missing-sdk",
        ),
        pytest.param(
            lambda: sdks.index_of("random").require("random:RandomPasword"),
            "has no type 'random:RandomPasword'",
            "did you mean 'random:RandomPassword'?",
            id="unknown-type",
        ),
        pytest.param(
            lambda: index_of_texts({"__init__.py": TABLE}).require("toy:Thing"),
            "pulumi-toy has no type 'toy:Thing'",
            "did you mean",
            id="its-file-is-missing",
        ),
        pytest.param(
            lambda: index_of_texts({"__init__.py": 'register(resource_modules="""\n[}""")'}).require("toy:Thing"),
            "pulumi-toy has no type 'toy:Thing'",
            "compare it with the provider's API docs",
            id="unreadable-table",
        ),
    ],
)
def test_what_is_missing_is_refused(ask: Callable[[], object], what: str, fix: str) -> None:
    with pytest.raises(ProviderError) as refused:
        ask()
    [problem] = refused.value.problems
    assert what in problem.what
    assert problem.fix.startswith(fix)


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        pytest.param(TEXT, "a string", id="text"),
        pytest.param(WHOLE, "an integer", id="integer"),
        pytest.param(ListOf(TEXT), "a list", id="list"),
        pytest.param(ObjectOf("X"), "an object", id="object"),
        pytest.param(EnumOf("X", ("a", "b")), "one of 'a', 'b'", id="enum"),
        pytest.param(OneOf((TEXT, ListOf(TEXT))), "a string or a list", id="union"),
        pytest.param(AnyType(), "any value", id="any"),
    ],
)
def test_a_type_in_a_few_words(kind: TypeRef, want: str) -> None:
    assert label(kind) == want
