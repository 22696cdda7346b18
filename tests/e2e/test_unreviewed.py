"""A branch that nobody has reviewed, on the real engine: what its preview may do, and what its texts may print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.models.rbac_v1 import PolicyRule, RoleRef, Subject
from lightkube.resources.core_v1 import ServiceAccount, ServiceAccountToken
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from tests.e2e.examples import claim, private_mysql
from tests.e2e.rig import SERVER, Rig
from tests.support import hostile

pytestmark = pytest.mark.e2e

SHOWN = ("link", "bold", "tag", "newline", "clear-screen", "hyperlink", "bidi", "zero-width", "command", "old-command")
READ = ["get", "list", "watch"]


def reader(rig: Rig) -> Path:
    """A kubeconfig of an account that can read everything, and write nothing."""
    account = ObjectMeta(name=rig.name, namespace="crossplane-system")
    rig.client.apply(ServiceAccount(metadata=account), field_manager="tests")
    rules = [PolicyRule(apiGroups=["*"], resources=["*"], verbs=READ)]
    rig.client.apply(ClusterRole(metadata=ObjectMeta(name=rig.name), rules=rules), field_manager="tests")
    subject = Subject(kind="ServiceAccount", name=rig.name, namespace="crossplane-system")
    role = RoleRef(apiGroup="rbac.authorization.k8s.io", kind="ClusterRole", name=rig.name)
    binding = ClusterRoleBinding(metadata=ObjectMeta(name=rig.name), roleRef=role, subjects=[subject])
    rig.client.apply(binding, field_manager="tests")
    request = ServiceAccountToken(metadata=account, spec=TokenRequestSpec(audiences=[]))
    token = rig.client.create(request, rig.name).status.token
    config: dict[str, Any] = yaml.safe_load(rig.kubeconfig.read_text())
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    path = rig.root / "reader.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


def use(rig: Rig, kubeconfig: Path) -> None:
    rig.write("stacks/Pulumi.dev.yaml", {"config": {"claimsmith:kubeconfig": str(kubeconfig)}})


def test_a_preview_needs_no_right_to_write(rig: Rig) -> None:
    """What docs/ci/threat-model.md recommends for unreviewed branches works, and holds."""
    rig.namespace(rig.name)
    rig.write("components/db/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    read_only = reader(rig)

    use(rig, read_only)
    assert {step["op"] for step in rig.steps("dev").values()} == {"create"}
    assert rig.live(SERVER, claim="sql", namespace=rig.name) == []

    use(rig, rig.kubeconfig)
    rig.ok(rig.up("dev"))
    use(rig, read_only)
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name, storageGB=20))
    changed = rig.steps("dev")[f"{rig.name}/sql/my-sql-server"]
    assert changed == {"op": "update", "fields": ["spec.forProvider.storageProfile.storageMB"]}
    refused = rig.up("dev")
    assert refused.code != 0
    assert "forbidden" in refused.text
    server = rig.one(SERVER, claim="sql", namespace=rig.name)
    assert server["spec"]["forProvider"]["storageProfile"]["storageMB"] == 10240

    use(rig, rig.kubeconfig)
    rig.ok(rig.up("dev"))


def test_what_the_program_logs_is_shown_and_never_sent(rig: Rig) -> None:
    """Warnings of the program and the error that ends it: names of files and classes that somebody chose."""
    rig.namespace(rig.name)
    rig.write("components/db/class.yaml", private_mysql())
    rig.write("stacks/dev/claims/sql.yaml", claim(rig.name))
    rig.prepare("dev")
    texts = [hostile.ALL[name] for name in SHOWN]
    for number, text in enumerate(texts):
        file = f"stacks/dev/claims/{text.replace('/', '')[:40]}{number}.yaml"
        rig.write(file, claim(rig.name, name=f"c{number}", klass=text))
    refused = rig.pulumi("preview", "--stack", "dev")
    assert refused.code != 0
    assert r"\u202eapproved" in refused.text
    assert hostile.hidden(refused.text) <= {"\t"}
    assert hostile.COMMAND.findall(refused.text) == []
    assert hostile.forged(refused.text) == []
