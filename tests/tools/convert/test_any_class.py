"""Whatever a class and a claim say: what is converted makes the same children, or names what it cannot say."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, example, given, reject
from hypothesis import strategies as st

from claimsmith.base.errors import EngineError
from claimsmith.tools.convert import convert
from tests.support.converted import Platform, candidates_of, new, old, pairs, planned
from tests.support.samples import catalog_of, claim_data, class_data, class_ref, patch, table

TABLE = table()
EXTERNAL = "crossplane.io/external-name"
READS = st.sampled_from(
    [
        *("spec.text", "spec.size", "spec.flag", "spec.list", "spec.list[1]", "spec.map", "spec.map.a", "spec.gone"),
        *("metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels.l", ".spec.text", "kind", "spec"),
        *("metadata.annotations[x.org/a]", f"metadata.annotations[{EXTERNAL}]", "spec['odd.key']", "status.x"),
    ]
)
WRITES = st.sampled_from(
    [
        *("spec.a", "spec.b.c", "spec.list[0]", "spec.list[*].x", "spec.list", "spec.map", "spec.map.k", "data.x"),
        *("metadata.name", "spec.writeConnectionSecretToRef.name"),
    ]
)
TEXTS = st.sampled_from(["spec.text", "metadata.name", "metadata.labels.l", f"metadata.annotations[{EXTERNAL}]"])
OF_TEXTS = st.sampled_from(
    [
        *("metadata.labels.l", "metadata.annotations[x.org/b]"),
        *(f"metadata.annotations[{EXTERNAL}{end}]" for end in ("", "-prefix", "-suffix")),
    ]
)
"""Places where only a text may stand."""
TRANSFORMS = st.sampled_from(
    [
        {"type": "string", "string": {"fmt": "<%v>"}},
        {"type": "string", "string": {"type": "Convert", "convert": "ToUpper"}},
        {"type": "string", "string": {"type": "Join", "join": {"separator": "-"}}},
        {"type": "math", "math": {"multiply": 3}},
        {"type": "map", "map": {"x": "mapped", "y": {"deep": [1, None]}}},
        {"type": "match", "match": {"patterns": [{"literal": "x", "result": None}], "fallbackTo": "Input"}},
        {"type": "convert", "convert": {"toType": "string"}},
    ]
)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "fromFieldPath": st.sampled_from(["Optional", "Required"]),
        "toFieldPath": st.sampled_from(["Replace", "MergeObjects", "ForceMergeObjectsAppendArrays"]),
    },
)


def patches(
    reads: st.SearchStrategy[str], writes: st.SearchStrategy[str], transforms: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda r, w, t, p: patch(r, w, *t, policy=p), reads, writes, transforms, POLICIES)


UPPER = {"type": "string", "string": {"type": "Convert", "convert": "ToUpper"}}
PATCHES = patches(READS, WRITES, st.lists(TRANSFORMS, max_size=2)) | patches(
    TEXTS, OF_TEXTS, st.sampled_from([[], [UPPER]])
)
WORDS = st.sampled_from(["", "x-", "-y", "5%"])
ANNOTATIONS = st.dictionaries(
    st.sampled_from([EXTERNAL, f"{EXTERNAL}-prefix", f"{EXTERNAL}-suffix", "x.org/b"]), WORDS.filter(bool), max_size=3
)
SECRETS = st.sampled_from([{}, {"namespace": "system"}, {"namespace": "system", "name": "own"}])
SPECS = st.builds(
    lambda secret, rest: {**rest, **({"writeConnectionSecretToRef": secret} if secret else {})},
    SECRETS,
    st.sampled_from([{"a": 1}, {"a": "x", "list": [{"x": 1}, {"x": 2}], "map": {"k": "v"}}]),
)
RESOURCES = st.builds(
    lambda spec, annotations, patches: {
        "base": {
            "apiVersion": "storage.example.org/v1",
            "kind": "Bucket",
            "metadata": {"annotations": annotations},
            "spec": spec,
        },
        "patches": patches,
    },
    SPECS,
    ANNOTATIONS,
    st.lists(PATCHES, max_size=4),
)
CLAIMS = st.fixed_dictionaries(
    {},
    optional={
        "text": st.sampled_from(["x", "y", "1"]),
        "size": st.sampled_from([0, 7, 2.5]),
        "flag": st.booleans(),
        "list": st.sampled_from([[], ["a"], ["a", "b"], [{"x": 1}]]),
        "map": st.sampled_from([{}, {"a": "b"}, {"a": {"b": 1}}]),
        "odd.key": st.just("odd"),
    },
)
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.just({"l": "label"}),
        "annotations": st.dictionaries(st.sampled_from([EXTERNAL, "x.org/a"]), st.just("outside"), min_size=1),
    },
)


NAMING = {"fromClaimFieldPath": "spec.text", "toResourceFieldPath": "spec.writeConnectionSecretToRef.name"}
MERGING = {**NAMING, "policy": {"toFieldPath": "MergeObjects"}}
SECRET = {"writeConnectionSecretToRef": {"namespace": "system"}}
NAMED_BY_A_MERGE = {
    "base": {"apiVersion": "storage.example.org/v1", "kind": "Bucket", "spec": SECRET},
    "patches": [MERGING],
}


@example([NAMED_BY_A_MERGE], {"text": "x"}, {})
@example([NAMED_BY_A_MERGE], {}, {})
@given(st.lists(RESOURCES, min_size=1, max_size=3), CLAIMS, METADATA)
def test_the_same_children(resources: list[dict[str, Any]], spec: dict[str, Any], metadata: dict[str, Any]) -> None:
    claim = claim_data(classRef=class_ref("any"), **spec)
    claim["metadata"] |= metadata
    catalog = catalog_of([class_data("any", *resources)], [claim])
    try:
        plan = planned(catalog, TABLE)
    except EngineError:
        reject()  # the older form refuses it
    conversion = convert(catalog, TABLE)
    assume(conversion.unsupported == ())
    platform = Platform.of(conversion)
    [bound], [document] = plan.claims, platform.claims.values()
    [pair] = pairs(bound, platform, document)
    assert new(pair, TABLE, candidates_of([pair])) == old(bound)
