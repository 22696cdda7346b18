"""What inputs begin with: texts that are understood, and the words that change much in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

CLAIM: dict[str, Any] = {
    "apiVersion": "database.example.org/v1alpha1",
    "kind": "MySQLInstance",
    "metadata": {"name": "sql", "namespace": "default", "uid": "u-1", "labels": {"a/b": "c"}},
    "spec": {
        "version": "5.7", "n": 3, "f": 2.5, "t": True, "nul": None, "e": "", "list": ["b", "a", "c"],
        "map": {"z": 1, "items": "own"}, "people": [{"name": "x", "age": 2}, {"name": "y", "age": 1}],
    },
}  # fmt: skip
DATA: dict[str, Any] = {"a": {"b": [{"c": 1}, {"c": 2}], "d.e": None}, "spec": CLAIM["spec"], "*": {"x": [[]]}}


def _words(text: str) -> list[str]:
    return text.split()


def _texts(*folders: str) -> list[str]:
    found = sorted(p for f in folders for p in (ROOT / f).rglob("*.yaml") if p.name not in _NOT_CLASSES)
    return [p.read_text(encoding="utf-8") for p in found]


_NOT_CLASSES = {"references.yaml", "bindable.yaml", "bindings.yaml"}
CLASSES = _texts("components")
REFERENCES = (ROOT / "components" / "references.yaml").read_text(encoding="utf-8")
CLAIMS = _texts("stacks/dev/claims", "stacks/local/claims", "stacks/prod/claims", "stacks/showcase/claims")
READ = """\
apiVersion: database.example.org/v1alpha1
kind: PostgreSQLDatabase
metadata: {name: old, namespace: default}
spec:
  classRef: {apiVersion: infrastructure.crossplane.io/v1alpha1, kind: CompositeResourceClass, name: postgresql}
  resourceRef: {type: "postgresql:Database", id: legacy, template: database}
"""
CLAIMS.append(READ)
GOLDEN = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests" / "golden").glob("*/platform.yaml"))]

PATHS = [
    "metadata.name", "a.b[0].c", "a['d.e']", "spec.people[*].name", "a[b.c]", "spec.list[4294967295]", ".a.b[1]",
    "[*].x[0][0]", "spec.map['z']", "a[-1]",
]  # fmt: skip
JINJA = [
    "apiVersion: v1\nkind: A\nspec:\n  v: {{ spec.version | upper | default('x') }}\n",
    "{% for p in spec.people if p.age > 1 %}{{ loop.index }}: {{ p.name ~ '-' }}{% endfor %}",
    "{% set x = [1, 2] %}{{ (x + spec.list) | join(',') }}{% if x is defined and not spec.t %}a{% else %}b{% endif %}",
    "{{ '%s' | format(spec.n * 2 ** 3) }}{{ spec.list[1:] | tojson }}{{ range(3) | list | length }}",
    "{% macro m(a, b=2) %}{{ a }}{% endmacro %}{{ m(1) }}{% filter upper %}x{% endfilter %}{{ spec['map'].get('z') }}",
]
GO = [
    'apiVersion: v1\nkind: A\nspec:\n  v: {{ .spec.version | upper | default "x" | quote }}\n',
    "{{ range $i, $p := .spec.people }}{{ $i }}: {{ $p.name }}{{ else }}none{{ end }}",
    "{{ with $x := .spec.map }}{{ $x.z }}{{ end }}{{ if and .spec.t (gt .spec.n 2) }}a{{ else if .spec.e }}b{{ end }}",
    '{{ printf "%05d %q" .spec.n .spec.version }}{{ toJson .spec.list }}{{ index .spec.list 1 }}{{- /* c */ -}}',
    '{{ define "t" }}{{ . }}{{ end }}{{ template "t" .spec.n }}{{ regexReplaceAll "a+" "baa" "${0}" }}{{ `raw` }}',
    '{{ list 1 2 | join "," | b64enc }}{{ dict "a" 1 | toYaml | indent 2 }}{{ semver "1.2.3" }}{{ until 3 }}',
]
INTERPOLATIONS = [
    "${", "}", "$${", "$", "${password.result}", "${role.name}", "${password.bcryptHash[0]}", "${password}", "${.}",
    "${nobody.result}", "${password.nothing}", "a-${role.id}-${role.id}", "${config.metadata.name}", "${a['b.c'].d}",
]  # fmt: skip
NATIVE_WORDS = [
    *_words("type properties options outputs random:RandomPassword postgresql:Role aws:s3:Bucket random: :: a:b:c:d"),
    *_words("nameSelector matchComposite matchControllerRef matchLabels output provider protect retainOnDelete"),
    *_words("ignoreChanges replaceOnChanges deleteBeforeReplace dependsOn aliases customTimeouts import"),
    *_words("forEach when each in key fromResource fromConfig properties.name outputs.result"),
    "size(spec.zones) > 1", "spec.zones", "zone.name", "has(spec.peer)",
]  # fmt: skip
NATIVE = """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata: {name: fuzzed}
spec:
  claim: {apiVersion: fuzz.example.org/v1alpha1, kind: Fuzzed}
  resources:
  - name: password
    base:
      type: random:RandomPassword
      properties: {length: 24, keepers: {a: "x-${role.name}"}}
      options: {protect: true, ignoreChanges: [keepers], customTimeouts: {create: 5m}}
      metadata: {labels: {app: fuzz}}
  - name: role
    base:
      type: postgresql:Role
      properties: {login: true}
      options: {provider: main, dependsOn: [config]}
    patches:
    - {fromClaimFieldPath: spec.text, toResourceFieldPath: properties.name}
    connectionDetails:
    - {name: password, fromResource: password, fromFieldPath: outputs.result}
    - {name: host, fromConfig: "postgresql:host"}
  - name: database
    base:
      type: postgresql:Database
      properties: {ownerSelector: {matchComposite: true, type: "postgresql:Role", output: name}}
    patches:
    - {fromClaimFieldPath: spec.text, toResourceFieldPath: properties.name}
    - fromClaimFieldPath: spec.text
      toResourceFieldPath: properties.template
      transforms: [{type: string, string: {fmt: "%s-${role.name}"}}]
  - name: config
    base: {apiVersion: v1, kind: ConfigMap, data: {constant: a}}
    patches:
    - {fromClaimFieldPath: spec.text, toResourceFieldPath: data.text}
  - name: zone
    forEach: {each: zone, in: spec.zones, key: name}
    when: zone.name
    base: {type: "random:RandomPet", properties: {length: 1}}
    patches:
    - {fromClaimFieldPath: zone.text, toResourceFieldPath: properties.prefix}
"""
"""A class of native children in which a claim's text reaches every sort of place, within a loop too."""
YAML = ["a: &x {b: 1}\nc: *x\n", "a: |\n  b\n---\nd: [1, 2.50, 0x1, ~, 'x', \"\\n\"]\n", "? a\n: !!str 1\n...\n"]

FORMATS = _words(
    "%s %d %v %+v %#v %[2]*.[1]*f %x %q %-010.3f %999999999s %c %U %e %% %t %p %T %b %o %O %g %! %[ %[1]d %w"
)
PATTERNS = ["a+", "(a|b)*c", "(?P<n>x)", "[[:alpha:]]", "\\d{1,1000}", "(", "(?i)É", "(a*)*$", "\\C", "^$", "(?=x)"]
QUANTITIES = ["500m", "1.5Gi", "2e3", "1e999999999", "Ki", "-.5", "0.0000000001", "9" * 90, "1E", "+1Ei", "12e+200"]

HOSTILE = [
    '"""', "'''", "\\", "\n", "\r", "\u2028", "\u202e", "\x00", "{{", "}}", "{%", "{#", "__class__", "__import__('os')",
    "None", "class", "lambda", "self", "super", "../", "/etc", "#", "%s", "${x}", "\ud800", "'", '"', "\\N{DASH}",
]  # fmt: skip

TOKENS = {
    "documents": [
        *_words("- ? : &x *x !t !!python/object:os.system [ ] { } , # ' \" \\x00 1e400 0o17 ~ 1.10 null"),
        *("a: ", "<<: *x", "---\n", "...\n", "%YAML 1.1\n", "|\n  ", ">-\n  ", "\n", "  ", "\t", "\u2028", "9" * 70),
        *("\ufeff", "\x85"),
    ],
    "fieldpath": _words("a b . [ ] * 0 4294967296 ' \" spec é -1 metadata"),
    "jinja2": [
        *_words(
            "{{ }} {% %} {# #} spec . list | upper ( ) [ ] for in if else endfor endif set = x ~ ** * 99999999 'a'"
        ),
        *_words("range loop __class__ join map format tojson '%999999999s' macro endmacro - + // % is not defined"),
        *_words("replace sort center indent batch truncate raw endraw wordwrap slice unique groupby sum min max"),
        *(" ", "\n", "apiVersion: v1\nkind: A\n"),
    ],
    "go-template": [
        *_words("{{ }} {{- -}} . .spec .list | ( ) range if else end with define template block $x := = 1 0x1p-2"),
        *_words('9223372036854775807 1e400 printf "%999999999s" "a" `a` \'a\' index repeat until untilStep join'),
        *_words("toJson fromJson fromYaml tpl include regexMatch regexReplaceAll mul div mod pow semver nindent"),
        *_words("semverCompare b64dec dict list set dig break continue /* */ and or not eq lt len slice html js"),
        *_words("urlquery call print trunc substr sortAlpha splitList ternary default"),
        *(" ", "\n"),
    ],
}
_FIELDS = ["spec", "metadata", "name", "patches", "base", "transforms", "labels"]
_NATIVE = [*INTERPOLATIONS, *NATIVE_WORDS]
TOKENS["generate"] = [*TOKENS["documents"], *HOSTILE, *FORMATS, *PATTERNS, *QUANTITIES, *_FIELDS, *_NATIVE]
TOKENS["plan"] = TOKENS["generate"]
TOKENS["native"] = [*INTERPOLATIONS, *HOSTILE, *FORMATS, "a", "password", "role", ".", " "]

TEXTS = {
    "documents": [*YAML, *CLASSES, *CLAIMS],
    "fieldpath": PATHS,
    "jinja2": JINJA,
    "go-template": GO,
    "generate": [*CLASSES, *GOLDEN, NATIVE],
    "plan": CLAIMS,
    "native": INTERPOLATIONS,
}
