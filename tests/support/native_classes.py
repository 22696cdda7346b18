"""One class of native resources in two dialects, for tables that spoil it in one place."""

from __future__ import annotations

PATH = "components/pg/class.yaml"

CLASS = """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata: {name: small-postgresql}
spec:
  claim: {apiVersion: database.example.org/v1alpha1, kind: PostgreSQLDatabase}
  resources:
  - name: password
    base:
      type: random:RandomPassword
      properties: {length: 24, special: false}
  - name: role
    base:
      type: postgresql:Role
      properties:
        login: true
        password: "${password.result}"
      options:
        provider: main
        ignoreChanges: [searchPaths]
    patches:
    - fromClaimFieldPath: metadata.name
      toResourceFieldPath: properties.name
  - name: database
    base:
      type: postgresql:Database
      properties:
        ownerSelector: {matchComposite: true, type: "postgresql:Role", output: name}
      options: {provider: main}
    patches:
    - fromClaimFieldPath: metadata.name
      toResourceFieldPath: properties.name
    - fromClaimFieldPath: spec.connections
      toResourceFieldPath: properties.connectionLimit
    connectionDetails:
    - {name: database, fromFieldPath: outputs.name}
    - {name: username, fromResource: role, fromFieldPath: outputs.name}
    - {name: password, fromResource: password, fromFieldPath: outputs.result}
    - {name: host, fromConfig: "postgresql:host"}
"""

PROJECT: dict[str, str | bytes] = {
    "Pulumi.yaml": "name: checked\nruntime: python\n",
    "stacks/dev/claims/none.yaml": "",
}
FILES: dict[str, str | bytes] = {**PROJECT, PATH: CLASS}


def changed(old: str, new: str, text: str = CLASS) -> dict[str, str | bytes]:
    """The project with one piece of its class replaced, which must be there exactly once."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return {**PROJECT, PATH: text.replace(old, new)}


def with_resource(base: str, rest: str = "") -> dict[str, str | bytes]:
    """The project with another native resource in its class."""
    return {**PROJECT, PATH: f"{CLASS}  - name: more\n    base:\n{base}{rest}"}
