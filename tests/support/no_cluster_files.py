"""A platform of native resources alone: the files of a project whose stack needs no cluster."""

from __future__ import annotations

CLASS = """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata:
  name: small-postgresql
  annotations: {resourceclass.crossplane.io/is-default-class: "true"}
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
      properties: {login: true, password: "${password.result}"}
      options: {provider: main}
    patches:
    - {fromClaimFieldPath: metadata.name, toResourceFieldPath: properties.name}
  - name: database
    base:
      type: postgresql:Database
      properties: {owner: "${role.name}"}
      options: {provider: main}
    patches:
    - {fromClaimFieldPath: metadata.name, toResourceFieldPath: properties.name}
    - {fromClaimFieldPath: spec.connections, toResourceFieldPath: properties.connectionLimit}
    - {fromClaimFieldPath: spec.server, toResourceFieldPath: options.provider}
    connectionDetails:
    - {name: database, fromFieldPath: outputs.name}
    - {name: username, fromResource: role, fromFieldPath: outputs.name}
    - {name: password, fromResource: password, fromFieldPath: outputs.result}
    - {name: scheme, value: postgresql}
    - {name: host, fromConfig: "postgresql:host"}
    - {name: port, fromConfig: "postgresql:port"}
"""
CLAIM = """\
apiVersion: database.example.org/v1alpha1
kind: PostgreSQLDatabase
metadata: {name: orders, namespace: default}
spec:
  connections: 20
"""
ASKING = f"""{CLAIM}\
  writeConnectionSecretToRef: {{name: orders-db}}
"""
CONFIG = """\
config:
  postgresql:host: localhost
  postgresql:port: "5432"
  claimsmith:providers:
    main: {package: postgresql, config: {host: localhost, port: 5432, sslmode: disable}}
"""
KUBERNETES = """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata:
  name: bucket
  annotations: {resourceclass.crossplane.io/is-default-class: "true"}
spec:
  claim: {apiVersion: storage.example.org/v1alpha1, kind: Store}
  resources:
  - name: bucket
    base: {apiVersion: storage.example.org/v1, kind: Bucket, spec: {forProvider: {region: eu}}}
"""
STORE = """\
apiVersion: storage.example.org/v1alpha1
kind: Store
metadata: {name: files, namespace: default}
spec: {}
"""
SINK_CLASS = """\
apiVersion: infrastructure.crossplane.io/v1alpha1
kind: CompositeResourceClass
metadata:
  name: connection-sink
spec:
  claim: {apiVersion: claimsmith.io/v1alpha1, kind: ConnectionDetails}
  resources:
"""
"""The class of a sink, to which its resources are added."""
# A stand-in for the secret of a cloud: the SDK is small, and keepers are stored as they are.
SINK = f"""{SINK_CLASS}\
  - name: place
    base: {{type: "random:RandomPet", properties: {{length: 1}}}}
    patches:
    - {{fromClaimFieldPath: spec.claim.name, toResourceFieldPath: properties.prefix}}
  - name: content
    base:
      type: random:RandomId
      properties: {{byteLength: 4, prefix: "${{place.id}}"}}
    patches:
    - {{fromClaimFieldPath: spec.details.password, toResourceFieldPath: properties.keepers.password}}
"""
ADDRESS = "PostgreSQLDatabase.database.example.org/default/orders"
PROGRAM = "from claimsmith.deploy import program\n\nprogram.run()\n"
FILES = {
    "Pulumi.yaml": "name: shop\nruntime: python\nmain: stacks\nstackConfigDir: stacks\n"
    'backend: {url: "file://./.claimsmith/state"}\n',
    "stacks/__main__.py": PROGRAM,
    "components/postgresql/class.yaml": CLASS,
    "stacks/dev/claims/orders.yaml": CLAIM,
    "stacks/Pulumi.dev.yaml": CONFIG,
}
