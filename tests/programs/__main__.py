"""A program of one's own that uses components of the example platform, as docs/guides/components.md shows it."""

import postgres
import private_mysql_server
import pulumi

from claimsmith.deploy import Context

sql = private_mysql_server.PrivateMySQLServer(
    "sql",
    {
        "metadata": {"name": "sql", "namespace": "shop"},
        "spec": {"storageGB": 20, "writeConnectionSecretToRef": {"name": "sql"}},
    },
)
azure = {"kind": "EnvironmentConfig", "metadata": {"name": "azure"}, "data": {"location": "West Europe"}}
postgres.PostgresClaim(
    "ledger",
    {"metadata": {"name": "ledger", "namespace": "shop"}, "spec": {"size": postgres.PostgresClaimSize.LARGE}},
    context=Context(environments=[azure]),
)
pulumi.export("keys", sql.connection_keys)
