"""Patches with one mistake each, as YAML: the check that reports it, how loudly, and the fix that it names."""

from __future__ import annotations

from tests.support.check_files import HERE


def patch(source: str, to: str, *transforms: str, required: bool = False) -> str:
    """One patch, its first line marked; each transform is a line of YAML."""
    text = f"- fromFieldPath: {source}{HERE}\n  toFieldPath: {to}\n"
    if required:
        text += "  policy: {fromFieldPath: Required}\n"
    if transforms:
        text += "  transforms:\n" + "".join(f"  - {t}\n" for t in transforms)
    return text


def at_transform(text: str) -> str:
    """The patch with its last transform marked instead of its first line."""
    return text.replace(HERE, "").rstrip("\n") + HERE + "\n"


def convert(to: str) -> str:
    return f"{{type: convert, convert: {{toType: {to}}}}}"


def match(pattern: str, result: str, *more: str) -> str:
    rest = "".join(f", {part}" for part in more)
    return f"{{type: match, match: {{patterns: [{{{pattern}, result: {result}}}]{rest}}}}}"


FORMAT = '{type: string, string: {fmt: "%d"}}'
JOIN = '{type: string, string: {type: Join, join: {separator: ","}}}'
MAP = "{type: map, map: {europe: eu-1, america: us-1}}"
ERRORS = [
    ("patch-path-unreadable", patch("spec.note", "'spec.label['"), "close it", "to"),
    ("patch-writes-unknown-field", patch("spec.note", "spec.lable"), "did you mean 'spec.label'?", "slip"),
    ("patch-writes-unknown-field", patch("spec.note", "metadata.lables[x]"), "metadata.labels", "metadata"),
    ("patch-reads-unknown-field", patch("spec.nope", "spec.label", required=True), "'spec.note'?", "required"),
    ("patch-type-mismatch", patch("spec.size", "spec.label"), "add a convert transform to string", "number-to-text"),
    ("patch-type-mismatch", patch("spec.note", "spec.size"), "add a convert transform to int64", "text-to-number"),
    ("patch-type-mismatch", patch("spec.note", "spec.public"), "add a convert transform to bool", "text-to-boolean"),
    ("patch-type-mismatch", patch("spec.zones", "spec.label"), "read one that is string", "list-to-text"),
    ("patch-type-mismatch", patch("spec.size", "metadata.labels[size]"), "convert transform to string", "label"),
    (
        "patch-type-mismatch",
        patch("spec.place", "spec.label", "{type: map, map: {europe: 1.16, america: 1.17}}"),
        "quote the values", "map-to-numbers",
    ),
    (
        "patch-type-mismatch",
        patch("spec.size", "spec.size", '{type: string, string: {fmt: "%d"}}'),
        "add a convert transform to int64", "formatted",
    ),
    (
        "patch-value-impossible",
        at_transform(patch("spec.place", "spec.region", "{type: map, map: {europe: eu, america: us}}")),
        "use one of: 'eu-1', 'us-1'", "map-to-nothing-allowed",
    ),
    (
        "patch-value-impossible",
        at_transform(patch("spec.note", "spec.region", match("literal: a", "b", "fallbackValue: c"))),
        "use one of: 'eu-1', 'us-1'", "match-to-nothing-allowed",
    ),
    ("patch-value-impossible", patch("spec.place", "spec.region"), "use one of: 'eu-1', 'us-1'", "no-value-shared"),
    (
        "transform-type-mismatch",
        at_transform(patch("spec.size", "spec.label", "{type: map, map: {a: b}}")), "convert it to string", "map",
    ),
    (
        "transform-type-mismatch",
        at_transform(patch("spec.size", "spec.label", match("literal: a", "b"))),
        "convert it to string", "match",
    ),
    (
        "transform-type-mismatch",
        at_transform(patch("spec.note", "spec.size", "{type: math, math: {multiply: 2}}")),
        "convert it to int64", "math",
    ),
    (
        "transform-type-mismatch",
        at_transform(patch("spec.note", "spec.label", JOIN)),
        "read another field", "join",
    ),
    (
        "transform-type-mismatch",
        at_transform(patch("spec.zones", "spec.label", convert("string"))),
        "read another field", "convert",
    ),
    (
        "map-misses-value",
        at_transform(patch("spec.place", "spec.label", "{type: map, map: {asia: a}}")), "the keys are: asia", "all",
    ),
    (
        "match-misses-value",
        at_transform(patch("spec.place", "spec.label", match("literal: a", "b"))),
        "add a pattern", "all",
    ),
    (
        "transform-refuses-value",
        at_transform(patch("spec.place", "spec.size", convert("int64"))), "", "all",
    ),
]  # fmt: skip
WARNINGS = [
    ("patch-reads-unknown-field", patch("spec.nope", "spec.label"), "did you mean 'spec.note'?", "optional"),
    (
        "map-misses-value",
        at_transform(patch("spec.place", "spec.region", "{type: map, map: {europe: eu-1}}")), "add it", "one",
    ),
    (
        "match-misses-value",
        at_transform(patch("spec.place", "spec.region", match("regexp: ^eu", "eu-1"))),
        "add a pattern", "one",
    ),
    (
        "patch-value-impossible",
        at_transform(patch("spec.place", "spec.region", "{type: map, map: {europe: eu-1, america: us}}")),
        "use one of: 'eu-1', 'us-1'", "one-of-two",
    ),
    ("patch-value-impossible", patch("spec.sizes", "spec.size"), "use at most 100", "one-out-of-bounds"),
    (
        "transform-refuses-value",
        at_transform(patch("spec.code", "spec.size", convert("int64"))), "", "one-no-number",
    ),
]  # fmt: skip
BAD = [("error", *row) for row in ERRORS] + [("warning", *row) for row in WARNINGS]
