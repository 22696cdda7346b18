"""The small project that the rows of test_refusals.py spoil, each in one place."""

from __future__ import annotations

CLASS = """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata:
  name: small
  labels: {tier: gold}
spec:
  claim:
    apiVersion: database.example.org/v1alpha1
    kind: Database
  resources:
  - base:
      apiVersion: azure.crossplane.io/v1alpha3
      kind: ResourceGroup
      spec:
        location: West US
        reclaimPolicy: Delete
    patches:
    - fromClaimFieldPath: spec.region
      toResourceFieldPath: spec.location
      transforms:
      - type: map
        map: {us-west: West US}
    - fromClaimFieldPath: spec.size
      toResourceFieldPath: spec.size
      transforms:
      - type: math
        math: {multiply: 1024}
  - base:
      apiVersion: database.azure.crossplane.io/v1beta1
      kind: MySQLServer
      spec:
        forProvider:
          resourceGroupNameSelector: {matchComposite: true}
        writeConnectionSecretToRef:
          namespace: crossplane-system
"""

CLAIM = """\
apiVersion: database.example.org/v1alpha1
kind: Database
metadata:
  namespace: default
  name: sql
spec:
  region: us-west
  size: 10
  classRef:
    apiVersion: infrastructure.crossplane.io/v1alpha1
    kind: CompositeResourceClass
    name: small
  writeConnectionSecretToRef:
    name: sql
"""

PATH_CLASS = "components/x/class.yaml"
PATH_CLAIM = "stacks/dev/claims/c.yaml"
PATH_BINDINGS = "stacks/dev/bindings.yaml"
FILES: dict[str, str | bytes] = {PATH_CLASS: CLASS, PATH_CLAIM: CLAIM}
KEY = "Database.database.example.org/default/sql"

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)


def spoilt(text: str, old: str, new: str) -> str:
    """The text with one piece replaced, which must be there exactly once."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)


def klass(old: str, new: str) -> dict[str, str | bytes]:
    return {PATH_CLASS: spoilt(CLASS, old, new)}


def claim(old: str, new: str) -> dict[str, str | bytes]:
    return {PATH_CLAIM: spoilt(CLAIM, old, new)}


def bindings(*rows: str) -> dict[str, str | bytes]:
    return {PATH_BINDINGS: "apiVersion: claimsmith.io/v1alpha1\nkind: Bindings\nbindings:\n" + "".join(rows)}


ROW = f"""\
- claim: {KEY}
  uid: 34ff9ee9-eab7-5191-9eaa-ca25fd1d1291
  class: CompositeResourceClass.infrastructure.crossplane.io/small
  reason: classRef
  digest: sha256:{"0" * 64}
"""
