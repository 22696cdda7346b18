"""What files below claims/ may say: attacks that are refused with their line, and what every team may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import CatalogError, EngineError, LoadError, ModelError, NotPermitted, Source
from claimsmith.base.labels import PROTECT
from claimsmith.base.names import GroupKind
from claimsmith.cli.app import app as cli
from claimsmith.compose import external_names
from claimsmith.compose.cluster_records import records_of
from claimsmith.compose.drafts import claim_data
from claimsmith.compose.plan import Plan
from claimsmith.platform import bindings_file, settings
from claimsmith.platform.binding import to_records
from claimsmith.platform.permissions import WORKLOAD_ALLOW, WORKLOAD_NAMESPACES, TargetGrant
from claimsmith.platform.settings import Permission, Settings
from claimsmith.project.project import Project
from claimsmith.render import render
from claimsmith.tools.bind import bind
from claimsmith.tools.review.stack import review_stack
from tests.support.attack_files import (
    ADMIN,
    ATTACKS,
    MINE,
    OWNED_BY,
    PLATFORM,
    SERVER,
    SETTINGS,
    SUBJECTS,
    THEIRS,
    UID,
    Attack,
    Data,
    app,
    as_text,
    claim,
    disk,
    environment,
    marked,
    namespace_object,
    queue,
    rbac,
    requirement,
    site,
    store,
    target,
    xr,
)
from tests.support.samples import class_ref, documents_of, write_files

RBAC = "rbac.authorization.k8s.io"
EXPORTED = {"uid": UID, "resourceVersion": "7", "ownerReferences": OWNED_BY, "finalizers": ["example.org/x"]}
"""What `kubectl get -o yaml` shows of a live object beside what somebody wrote."""
VICTIM = marked(claim("orders", namespace=THEIRS), "crossplane.io/external-name", "orders-db")


def rule(group: str, resource: str, verb: str) -> Data:
    return {"apiGroups": [group], "resources": [resource], "verbs": [verb]}


def project(root: Path, files: dict[str, Any], text: str | None = SETTINGS) -> Project:
    """The platform with a victim's claim, these files, and the settings given; None leaves the settings file out."""
    content = {**PLATFORM, "stacks/dev/claims/team-b/orders.yaml": VICTIM, **files}
    write_files(root, {"claimsmith.yaml": text or "", **{path: as_text(c) for path, c in content.items()}})
    if text is None:
        (root / "claimsmith.yaml").unlink()
    return Project(root)


def plan_of(root: Path, document: Data, text: str | None = SETTINGS) -> Plan:
    return project(root, {"stacks/dev/claims/team-a/x.yaml": document}, text).plan("dev", unrecorded_ok=True)


def allowing(*permissions: Permission, **more: Any) -> str:
    """Settings in which team-a may do more."""
    entry = {"folder": "team-a", "namespaces": [MINE], "allow": [str(p) for p in permissions], **more}
    rest = yaml.safe_load(SETTINGS)
    return yaml.safe_dump({**rest, "claims": [entry, rest["claims"][1]]})


@pytest.mark.parametrize("attack", [pytest.param(a, id=name) for name, a in ATTACKS.items()])
def test_attacks_are_refused_with_their_line(attack: Attack, tmp_path: Path) -> None:
    attacked = project(tmp_path, dict(attack.files))
    plan_problems = problems_of(attacked)
    refused = [p for p in plan_problems if attack.says in p.what]
    assert refused, [str(p) for p in plan_problems]
    assert attack.at in {p.where.file for p in refused if p.where}
    assert all(p.fix for p in refused)


@pytest.mark.parametrize("attack", [pytest.param(a, id=name) for name, a in ATTACKS.items()])
def test_a_review_tells_of_attacks(attack: Attack, tmp_path: Path) -> None:
    before = project(tmp_path / "before", {})
    after = project(tmp_path / "after", dict(attack.files))
    review = review_stack(before, after, "dev")
    assert any(attack.says in p.what for p in (*review.problems, *review.refusals))


def problems_of(attacked: Project) -> list[Any]:
    """Why a stack is refused, or why a claim in it is bound to nothing."""
    try:
        plan = attacked.plan("dev", unrecorded_ok=True)
    except EngineError as error:
        return list(error.problems)
    return [*(u.problem for u in plan.unbound if u.mistake), *plan.warnings]


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(claim("a", writeConnectionSecretToRef={"name": "a"}), id="claim"),
        pytest.param(marked(claim("a"), PROTECT), id="claim-that-asks-for-protection"),
        pytest.param(marked(claim("a"), "example.org/anything"), id="annotation-of-somebody-else"),
        pytest.param(store("a", writeConnectionSecretToRef={"name": "a"}), id="crossplane-claim"),
        pytest.param(store("a", metadata={"labels": {"app": "a"}}), id="crossplane-claim-with-labels"),
        pytest.param(store("a", metadata=EXPORTED), id="exported-crossplane-claim"),
        pytest.param({**claim("a"), "metadata": {**claim("a")["metadata"], **EXPORTED}}, id="exported-claim"),
        pytest.param(queue(name="a"), id="namespaced-composite"),
        pytest.param(
            queue({"labels": {"crossplane.io/composite": "a"}}, name="a"), id="namespaced-composite-with-its-own-label"
        ),
        pytest.param(requirement(), id="requirement"),
        pytest.param(site(), id="application-of-a-definition"),
        pytest.param(app({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}), id="application"),
    ],
)
def test_what_every_team_may_say(document: Data, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, document)
    made = [c.binding.claim.document.file for c in plan.claims]
    made += [w.placement.application.document.file for w in plan.workloads]
    assert "stacks/dev/claims/team-a/x.yaml" in made


def test_what_the_platform_provides_may_be_claimed(tmp_path: Path) -> None:
    given = {k: SERVER[k] for k in ("apiVersion", "kind")} | {"name": "provided-server"}
    document = claim("a", resourceRef=given)
    document["spec"].pop("classRef")
    document["apiVersion"] = "database.example.org/v1alpha1"
    assert plan_of(tmp_path, document).claims


@pytest.mark.parametrize(
    ("document", "permission"),
    [
        pytest.param(marked(claim("a"), "claimsmith.io/adopt"), Permission.adopt, id="adopt"),
        pytest.param(xr(), Permission.composites, id="composites"),
        pytest.param(
            claim(
                "a", classRef=class_ref("pets"), resourceRef={"type": "random:RandomPet", "id": "x", "template": "pet"}
            ),
            Permission.existing_resources,
            id="existing-native-resource",
        ),
        pytest.param(
            marked(claim("a", classRef=class_ref("pets")), "claimsmith.io/import", "pet=cat"),
            Permission.imports,
            id="import",
        ),
        pytest.param(disk(), Permission.composites, id="composites-of-a-definition"),
        pytest.param(marked(claim("a"), "crossplane.io/external-name", "a"), Permission.external_names, id="names"),
    ],
)
def test_the_platform_permits_more(document: Data, permission: Permission, tmp_path: Path) -> None:
    assert len(plan_of(tmp_path, document, allowing(permission)).claims) == 2


@pytest.mark.parametrize("text", ["${pet.id}", "$${pet.id}", "${password.result}", "${"])
def test_no_value_of_a_claim_is_an_interpolation(text: str, tmp_path: Path) -> None:
    wish = claim("a", classRef=class_ref("pets"), size=text)
    open_ = SETTINGS.replace("classes: [small,", "classes: [pets, small,")
    plan = plan_of(tmp_path, wish, open_)
    [pet] = [c for p in plan.claims for c in p.children if c.template.name == "name"]
    assert pet.document["properties"]["prefix"] == text


REACHING: Data = {
    "options": {"provider": "admin", "protect": False, "retainOnDelete": True, "import": "theirs"},
    "provider": "admin",
    "providerConfigRef": {"name": "admin"},
    "properties": {"prefix": "theirs", "__class__": "x"},
    "type": "aws:iam:User",
    "import": "theirs",
}


@pytest.mark.parametrize("field", REACHING)
def test_no_field_of_a_claim_reaches_a_native_resource_by_itself(field: str, tmp_path: Path) -> None:
    def pets(**spec: Any) -> list[Data]:
        wish = claim("a", classRef=class_ref("pets"), **spec)
        plan = plan_of(tmp_path, wish, SETTINGS.replace("classes: [small,", "classes: [pets, small,"))
        return [c.document for p in plan.claims for c in p.children if c.template.native]

    assert pets(**{field: REACHING[field]}) == pets()


@pytest.mark.parametrize("id_", ["${pet.id}", "../../other", "x\nimport os", "urn:pulumi:dev::x::y::z", "{{ .x }}"])
def test_an_id_of_a_claim_is_a_text_wherever_it_is_written(id_: str, tmp_path: Path) -> None:
    wish = claim(
        "a", classRef=class_ref("pets"), resourceRef={"type": "random:RandomPet", "id": id_, "template": "pet"}
    )
    plan = plan_of(tmp_path, wish, allowing(Permission.existing_resources, classes=["*"]))
    [pet] = [c for p in plan.claims for c in p.children if c.template.native]
    assert pet.document["get"] == {"id": id_}
    [program] = [d for d in yaml.safe_load_all(render(plan)) if d and "resources" in d]
    assert program["resources"]["team-a-a-pet"]["get"] == {"id": id_.replace("${", "$${")}
    found = bindings_file.write(to_records([p.binding for p in plan.claims], []), stack="dev")
    assert f"random:index/randomPet:RandomPet {id_}" in {r.resource for r in bindings_file.read(found, file="x/b.yaml")}


def test_no_claim_takes_over_what_it_may_not(tmp_path: Path) -> None:
    wish = marked(claim("a", classRef=class_ref("pets")), "claimsmith.io/import", "pet=cat")
    with pytest.raises(NotPermitted, match=r"claimsmith\.io/import counts in the platform's files only"):
        plan_of(tmp_path, wish, SETTINGS.replace("classes: [small,", "classes: [pets, small,"))


def test_a_permission_is_not_for_other_folders(tmp_path: Path) -> None:
    with pytest.raises(NotPermitted):
        plan_of(tmp_path, xr(), SETTINGS.replace("allow: [external-names]", "allow: [composites, external-names]"))


def test_a_permitted_composite_keeps_to_the_namespaces(tmp_path: Path) -> None:
    elsewhere = xr(writeConnectionSecretToRef={"namespace": "kube-system", "name": "loot"})
    with pytest.raises(NotPermitted, match="may not use the namespace 'kube-system'"):
        plan_of(tmp_path, elsewhere, allowing(Permission.composites))


@pytest.mark.parametrize(
    ("namespace", "permitted"),
    [
        pytest.param("anything", True, id="any-namespace"),
        pytest.param("kube-system", False, id="not-a-system-namespace"),
        pytest.param("crossplane-system", False, id="not-the-namespace-of-secrets"),
    ],
)
def test_without_settings_there_is_one_team(namespace: str, permitted: bool) -> None:
    grant = Settings().grant("dev", "any/where.yaml")
    assert grant
    assert grant.may_use_namespace(namespace) is permitted
    assert grant.allow == frozenset()


def test_a_selector_chooses_among_the_classes_that_are_permitted(tmp_path: Path) -> None:
    document = claim("a", classSelector={})
    document["spec"].pop("classRef")
    plan = plan_of(tmp_path, document)
    assert {c.binding.klass.name for c in plan.claims if c.binding.claim.key.namespace == MINE} == {"small"}


def test_a_class_that_is_no_longer_permitted_keeps_what_it_made(tmp_path: Path) -> None:
    found = project(tmp_path, {"stacks/dev/claims/team-a/x.yaml": claim("a")})
    bind(found, "dev")
    (tmp_path / "claimsmith.yaml").write_text(SETTINGS.replace("classes: [small, ", "classes: ["), encoding="utf-8")
    with pytest.raises(EngineError, match="may not use") as caught:
        Project(tmp_path).plan("dev")
    assert "permit the class" in caught.value.problems[0].fix


@pytest.mark.parametrize(
    ("annotations", "objects"),
    [
        pytest.param({WORKLOAD_ALLOW: "cluster-scope"}, [namespace_object("x")], id="cluster-scope"),
        pytest.param(
            {WORKLOAD_NAMESPACES: "shared-*"},
            [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "shared-1"}}],
            id="namespaces",
        ),
    ],
)
def test_a_target_permits_more(annotations: dict[str, str], objects: list[Data], tmp_path: Path) -> None:
    wider = target("shared", MINE)
    wider["metadata"]["annotations"] = annotations
    shared = [r if r["metadata"]["name"] != "shared" else wider for r in PLATFORM["stacks/dev/resources/shared.yaml"]]
    files = {"stacks/dev/claims/team-a/x.yaml": app(*objects), "stacks/dev/resources/shared.yaml": shared}
    assert project(tmp_path, files).plan("dev", unrecorded_ok=True).workloads


def test_annotations_for_the_engine_are_dropped_on_a_shared_target(tmp_path: Path) -> None:
    forced = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}
    plan = plan_of(tmp_path, app(marked(marked(forced, "pulumi.com/patchForce"), "example.org/kept")))
    metadata = plan.workloads[0].resources[0].document["metadata"]
    assert metadata["annotations"] == {"example.org/kept": "true"}


def test_a_target_with_an_unknown_permission_is_refused(tmp_path: Path) -> None:
    wider = target("shared", MINE)
    wider["metadata"]["annotations"] = {WORKLOAD_ALLOW: "everything"}
    shared = [r if r["metadata"]["name"] != "shared" else wider for r in PLATFORM["stacks/dev/resources/shared.yaml"]]
    files = {
        "stacks/dev/claims/team-a/x.yaml": app({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}),
        "stacks/dev/resources/shared.yaml": shared,
    }
    with pytest.raises(EngineError, match="knows no 'everything'"):
        project(tmp_path, files).plan("dev", unrecorded_ok=True)


HEAD = "apiVersion: claimsmith.io/v1alpha1\nkind: Settings\nclaims:\n"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param(HEAD + "- folder: ../other\n", "claims[0].folder", id="folder-outside"),
        pytest.param(HEAD + "- folder: team-*\n", "claims[0].folder", id="folder-as-a-pattern"),
        pytest.param(HEAD + "- namespaces: [a]\n", "claims[0].folder", id="no-folder"),
        pytest.param(HEAD + "- folder: a\n  allow: [everything]\n", "claims[0].allow[0]", id="unknown-permission"),
        pytest.param(HEAD + "- folder: a\n  namespace: a\n", "claims[0].namespace", id="misspelt-field"),
    ],
)
def test_settings_refused(text: str, path: str) -> None:
    with pytest.raises(ModelError) as caught:
        settings.read(*documents_of(yaml.safe_load(text), file="claimsmith.yaml"))
    assert caught.value.problems[0].path == path
    assert caught.value.problems[0].fix


@pytest.mark.parametrize(
    "text", [pytest.param("# nothing\n", id="empty"), pytest.param(f"{SETTINGS}---\n{SETTINGS}", id="two")]
)
def test_a_settings_file_holds_one_document(text: str, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="holds one document"):
        plan_of(tmp_path, claim("a"), text)


def test_two_entries_for_one_folder_are_refused() -> None:
    text = HEAD + "- folder: a\n- folder: ./a\n"
    with pytest.raises(CatalogError, match="two entries"):
        settings.read(*documents_of(yaml.safe_load(text), file="claimsmith.yaml"))


@pytest.mark.parametrize(
    ("stack", "file", "namespaces"),
    [
        pytest.param("dev", "a/x.yaml", ("a",), id="its-folder"),
        pytest.param("dev", "a/inner/deep/x.yaml", ("inner",), id="the-deepest-folder"),
        pytest.param("prod", "a/x.yaml", ("a-prod",), id="the-stack-by-name"),
        pytest.param("dev", "x.yaml", ("all",), id="the-whole-folder"),
        pytest.param("dev", "ab/x.yaml", ("all",), id="no-part-of-a-name"),
    ],
)
def test_the_entry_that_decides(stack: str, file: str, namespaces: tuple[str, ...]) -> None:
    entries = [
        {"folder": ".", "namespaces": ["all"]},
        {"folder": "a", "namespaces": ["a"]},
        {"folder": "a", "stacks": ["prod"], "namespaces": ["a-prod"]},
        {"folder": "a/inner", "namespaces": ["inner"]},
    ]
    data = {"apiVersion": "claimsmith.io/v1alpha1", "kind": "Settings", "claims": entries}
    grant = settings.read(*documents_of(data, file="claimsmith.yaml")).grant(stack, file)
    assert grant
    assert grant.namespaces == namespaces


def test_external_names_of_another_stack_on_the_same_cluster(tmp_path: Path) -> None:
    twin = marked(claim("twin", namespace=THEIRS), "crossplane.io/external-name", "orders-db")
    files = {"stacks/prod/claims/team-b/twin.yaml": twin}
    with pytest.raises(EngineError, match="of the stack 'dev'"):
        project(tmp_path, files).plan("prod", unrecorded_ok=True)
    elsewhere = tmp_path / "stacks" / "Pulumi.prod.yaml"
    elsewhere.write_text("config: {claimsmith:context: production}\n", encoding="utf-8")
    assert Project(tmp_path).plan("prod", unrecorded_ok=True).claims


def test_the_external_name_may_not_be_a_generated_name_of_another(tmp_path: Path) -> None:
    first = project(tmp_path, {"stacks/dev/claims/team-a/x.yaml": claim("a")}).plan("dev", unrecorded_ok=True)
    generated = next(c.children[0].name for c in first.claims if c.binding.claim.key.namespace == MINE)
    thief = marked(claim("thief", namespace=THEIRS), "crossplane.io/external-name", generated)
    files = {"stacks/dev/claims/team-a/x.yaml": claim("a"), "stacks/dev/claims/team-b/thief.yaml": thief}
    with pytest.raises(EngineError, match=f"would get the external name '{generated}'"):
        project(tmp_path, files).plan("dev", unrecorded_ok=True)


def test_a_kind_in_namespaces_and_its_twin_at_cluster_scope_share_names() -> None:
    def named(claim: str, group: str, *, chosen: bool) -> external_names.Named:
        return external_names.Named("dev", claim, claim, GroupKind(group, "Server"), "orders-db", chosen, Source("x"))

    thief = named("thief", "database.m.example.org", chosen=True)
    [problem] = external_names.taken([thief], [named("orders", "database.example.org", chosen=False)])
    assert problem.rule == "external-name-taken"


@pytest.mark.parametrize(
    ("namespace", "permitted"),
    [
        pytest.param("anything", True, id="any-namespace"),
        pytest.param("kube-system", False, id="not-a-system-namespace"),
    ],
)
def test_a_pattern_of_a_target_covers_no_system_namespace(namespace: str, permitted: bool) -> None:
    refused = TargetGrant(namespaces=("*",)).refusal(GroupKind("", "ConfigMap"), namespace, namespaced=True)
    assert (refused == "") is permitted
    assert TargetGrant().refusal(GroupKind("", "ConfigMap"), namespace, namespaced=True) == ""


def test_a_changed_uid_is_refused_with_the_way_back(tmp_path: Path) -> None:
    bound = project(tmp_path, {})
    bind(bound, "dev")
    path = bound.bindings_path("dev")
    [record, *_] = bindings_file.read(path.read_text(encoding="utf-8"), file="bindings.yaml")
    path.write_text(path.read_text(encoding="utf-8").replace(record.uid, "0" * 8 + record.uid[8:]), encoding="utf-8")
    with pytest.raises(EngineError, match="is not the one that it was bound with") as caught:
        Project(tmp_path).plan("dev")
    assert caught.value.problems[0].fix.startswith("restore bindings.yaml")
    with pytest.raises(EngineError, match="is not the one that it was bound with"):
        bind(Project(tmp_path), "dev", rebind=[str(record.claim)])


def test_a_renamed_project_keeps_its_uids(tmp_path: Path) -> None:
    bind(project(tmp_path, {}), "dev")
    (tmp_path / "Pulumi.yaml").write_text("name: renamed\nruntime: python\n", encoding="utf-8")
    write_files(tmp_path, {"Pulumi.yaml": "name: renamed\nruntime: python\n", "claimsmith.yaml": SETTINGS})
    before = Project(tmp_path).records("dev")
    (tmp_path / "stacks/dev/claims/team-a").mkdir(exist_ok=True)
    (tmp_path / "stacks/dev/claims/team-a/x.yaml").write_text(as_text(claim("late")), encoding="utf-8")
    bind(Project(tmp_path), "dev")
    after = {r.claim: r.uid for r in Project(tmp_path).records("dev")}
    assert {r.claim: r.uid for r in before}.items() <= after.items()
    assert Project(tmp_path).plan("dev").claims


def test_a_stack_without_claims_is_still_a_stack(tmp_path: Path) -> None:
    bound = project(tmp_path, {})
    bind(bound, "dev")
    (tmp_path / "stacks/dev/claims/team-b/orders.yaml").unlink()
    (tmp_path / "stacks/dev/claims/team-b").rmdir()
    (tmp_path / "stacks/dev/claims").rmdir()
    assert Project(tmp_path).stacks() == ["dev"]
    assert Project(tmp_path).plan("dev").claims == ()


def test_the_schema_of_the_settings_is_the_committed_one(root: Path) -> None:
    import json

    committed = (root / "docs" / "reference" / "settings.schema.json").read_text(encoding="utf-8")
    assert json.loads(committed) == settings.json_schema()
    assert CliRunner().invoke(cli, ["schema"]).stdout == committed


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("config: {claimsmith:kubeconfig: *sesame}\n", id="alias"),
        pytest.param("config: {claimsmith:kubeconfig: !sesame x}\n", id="tag"),
        pytest.param("config:\n  sesame: 1\n  sesame: 2\n", id="key"),
    ],
)
def test_a_malformed_config_is_refused_without_its_words(text: str, tmp_path: Path) -> None:
    broken = project(tmp_path, {})
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(LoadError) as caught:
        broken.setting("dev", "kubeconfig")
    assert "sesame" not in str(caught.value)
    assert caught.value.problems[0].where
    assert caught.value.__cause__ is None


# What a review says of changes that only the platform can make


def reviewed(root: Path, before: dict[str, Any], after: dict[str, Any], **settings_text: str) -> Any:
    old = project(root / "before", before)
    new = project(root / "after", after, settings_text.get("settings", SETTINGS))
    return review_stack(old, new, "dev")


def test_a_review_names_the_file_of_a_changed_environment(tmp_path: Path) -> None:
    files = {"stacks/dev/claims/team-a/x.yaml": store("a")}
    changed = {**files, "components/limits/environment.yaml": [environment(6)]}
    [claim_change] = [c for c in reviewed(tmp_path, files, changed).claims if c.short == "Store team-a/a"]
    [cause] = [f.cause for r in claim_change.resources for f in r.fields]
    assert cause.whose == "environment"
    assert cause.claim == "limit: 5 → 6"
    assert cause.claim_where.file == "components/limits/environment.yaml"


def test_a_review_warns_of_what_is_adopted(tmp_path: Path) -> None:
    wish = claim("a", writeConnectionSecretToRef={"name": "a"})
    open_ = allowing(Permission.adopt)
    review = reviewed(
        tmp_path,
        {"stacks/dev/claims/team-a/x.yaml": wish},
        {"stacks/dev/claims/team-a/x.yaml": marked(wish, "claimsmith.io/adopt")},
        settings=open_,
    )
    assert [w.rule for w in review.warnings] == ["adopts"]
    assert "Secret team-a/a" in review.warnings[0].what
    assert review.changes


def test_a_review_shows_the_external_name_of_what_is_created(tmp_path: Path) -> None:
    new = marked(claim("new", namespace=THEIRS), "crossplane.io/external-name", "new-db")
    review = reviewed(tmp_path, {}, {"stacks/dev/claims/team-b/new.yaml": new})
    assert any("its external name is 'new-db'" in r.why for c in review.claims for r in c.resources)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        pytest.param("{}", '{"claimsmith:records": "true"}', 'nothing → "true"', id="records"),
        pytest.param('{"claimsmith:kubeconfig": "a: sesame"}', "{}", "claimsmith:kubeconfig changes", id="kubeconfig"),
        pytest.param("{}", '{"aws:region": "eu-west-1"}', "aws:region changes", id="of-a-provider"),
    ],
)
def test_a_review_tells_of_settings(before: str, after: str, words: str, tmp_path: Path) -> None:
    path = "stacks/Pulumi.dev.yaml"
    old, new = ({path: {"config": yaml.safe_load(text)}} for text in (before, after))
    review = reviewed(tmp_path, old, new)
    assert [w.rule for w in review.warnings] == ["setting-changed"]
    assert words in review.warnings[0].what
    assert "sesame" not in review.warnings[0].what
    assert review.changes


@pytest.mark.parametrize(
    ("document", "danger"),
    [
        pytest.param(rbac("ClusterRoleBinding", roleRef=ADMIN, subjects=SUBJECTS), True, id="cluster-admin"),
        pytest.param(rbac("RoleBinding", roleRef={**ADMIN, "name": "edit"}, subjects=SUBJECTS), True, id="edit"),
        pytest.param(rbac("ClusterRole", rules=[rule("*", "*", "*")]), True, id="wildcards"),
        pytest.param(rbac("ClusterRole", rules=[rule("", "users", "impersonate")]), True, id="impersonate"),
        pytest.param(rbac("ClusterRole", rules=[rule(RBAC, "roles", "escalate")]), True, id="escalate"),
        pytest.param(rbac("ClusterRole", rules=[rule(RBAC, "roles", "bind")]), True, id="bind"),
        pytest.param(rbac("ClusterRole", rules=[rule("", "pods", "get")]), False, id="a-plain-role"),
        pytest.param(
            rbac("ClusterRoleBinding", roleRef={**ADMIN, "name": "view"}, subjects=SUBJECTS), False, id="view"
        ),
    ],
)
def test_new_power_over_everything_is_a_danger(document: Data, danger: bool, tmp_path: Path) -> None:
    review = reviewed(tmp_path, {}, {"stacks/dev/resources/rbac.yaml": document})
    assert ("rights-unlimited" in [w.rule for w in review.warnings]) is danger
    assert review.destructive is danger


def test_a_review_tells_of_records(tmp_path: Path) -> None:
    config = {"stacks/Pulumi.dev.yaml": {"config": {"claimsmith:records": "true"}}}
    before = {**config, "stacks/dev/claims/team-a/x.yaml": claim("a")}
    after = {**config, "stacks/dev/claims/team-a/x.yaml": claim("a", size=3)}
    [changed] = reviewed(tmp_path, before, after).claims
    records = {r.part: [f.path for f in r.fields] for r in changed.resources}
    assert records["claim"] == ["spec.size"]
    assert set(records) == {"server", "claim"}


def test_records_carry_no_instructions(tmp_path: Path) -> None:
    wish = marked(marked(claim("a"), "claimsmith.io/adopt"), "example.org/kept")
    plan = plan_of(tmp_path, wish, allowing(Permission.adopt))
    [planned] = [c for c in plan.claims if c.binding.claim.key.namespace == MINE]
    written = dict(records_of(planned.identity, claim_data(planned.binding), [{}], ()))["claim"]
    assert set(written["metadata"]["annotations"]) == {"claimsmith.io/owner", "example.org/kept"}
