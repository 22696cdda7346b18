from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from claimsmith.base.errors import ComposeError, EngineError, LoadError
from claimsmith.base.transform import parse_transform
from claimsmith.cli.app import app
from claimsmith.compose.options import Options
from claimsmith.dialects.common.selector import Selector
from claimsmith.project.project import Project
from claimsmith.tools.explain import Explanation, Trace, formatting
from claimsmith.tools.explain.children import ExplainedChild, ExplainedPatch
from claimsmith.tools.explain.project import explanations as stories_of
from claimsmith.tools.explain.project import facts
from claimsmith.tools.explain.project import trace as trace_of
from tests.support.paths import ROOT
from tests.support.platform_files import DEFINITIONS, PLATFORM, SITE, TEMPLATED
from tests.support.refusal_files import CLASS, FILES, KEY, PATH_CLAIM, PATH_CLASS, claim, klass, spoilt
from tests.support.samples import write_files

URN = "urn:pulumi:dev::shop::"
DATABASE = "claimsmith:database.example.org:Database"


def project_of(root: Path, *more: dict[str, str | bytes]) -> Project:
    files: dict[str, str | bytes] = {}
    for part in (FILES, *more):
        files |= part
    return Project(write_files(root, files))


def story_of(project: Project, claim: str = "sql") -> Explanation:
    [story] = stories_of(project, "dev", claim)
    return story


def child_of(story: Explanation, name: str) -> ExplainedChild:
    found = dict(story.parts())[name]
    assert isinstance(found, ExplainedChild)
    return found


def traced(project: Project, child: str | None, field: str, claim: str | None = "sql") -> Trace:
    return trace_of(project, "dev", claim, child=child, field=field)


@pytest.fixture(autouse=True)
def _back_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The commands change the folder; after the test it is the old one again."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> Project:
    return project_of(tmp_path)


@pytest.fixture
def platform(tmp_path: Path) -> Project:
    return project_of(tmp_path, PLATFORM)


def run(project: Project, *arguments: str):
    return CliRunner().invoke(app, ["-C", str(project.root), *arguments])


# The choice


def second_class(**changes: str) -> dict[str, str | bytes]:
    text = spoilt(CLASS, "name: small", "name: other")
    for old, new in (v.split(" => ") for v in changes.values()):
        text = spoilt(text, old, new)
    return {"components/y/class.yaml": text}


ASKING_BY_REF = """\
  classRef:
    apiVersion: infrastructure.crossplane.io/v1alpha1
    kind: CompositeResourceClass
    name: small
"""


@pytest.mark.parametrize(
    ("files", "want"),
    [
        pytest.param(
            {},
            {"small": (True, True, "named by the classRef"), "other": (False, False, "the classRef names another")},
            id="by-name",
        ),
        pytest.param(
            claim(ASKING_BY_REF, "  classSelector: {matchLabels: {tier: gold}}\n"),
            {
                "small": (True, True, "matches the classSelector"),
                "other": (False, False, "tier is 'silver', not 'gold'"),
            },
            id="by-labels",
        ),
        pytest.param(
            claim(ASKING_BY_REF, "  classSelector: {matchExpressions: [{key: size, operator: Exists}]}\n"),
            {"small": (False, False, "no label size"), "other": (False, False, "no label size")},
            id="by-expression",
        ),
        pytest.param(
            {
                **claim(ASKING_BY_REF, ""),
                **klass(
                    "labels: {tier: gold}",
                    'labels: {tier: gold}\n  annotations: {resourceclass.crossplane.io/is-default-class: "true"}',
                ),
            },
            {
                "small": (True, True, "the default"),
                "other": (False, False, "no default, and the claim has no classRef or classSelector"),
            },
            id="default",
        ),
    ],
)
def test_candidates(tmp_path: Path, files: dict[str, str | bytes], want: dict[str, Any]) -> None:
    other = second_class(labels="tier: gold => tier: silver")
    story = story_of(project_of(tmp_path, other, files))
    assert {c.klass.name: (c.fits, c.chosen, c.why) for c in story.candidates} == want


def test_weights_are_told(tmp_path: Path) -> None:
    heavy = second_class(
        labels='labels: {tier: gold} => labels: {tier: gold}\n  annotations: {resourceclass.crossplane.io/weight: "7"}'
    )
    story = story_of(project_of(tmp_path, heavy, claim(ASKING_BY_REF, "  classSelector: {}\n")))
    assert story.chosen is not None
    assert story.chosen.klass.name == "other"
    assert "the highest weight of 2" in story.chosen.reason
    assert {c.klass.name: c.weight for c in story.candidates} == {"small": 0, "other": 7}


def test_a_choice_that_is_made_now_names_the_command(plain: Project) -> None:
    story = story_of(plain)
    assert story.chosen is not None
    assert (story.chosen.recorded, story.chosen.command) == (None, "claimsmith bind dev")
    assert run(plain, "bind", "dev").exit_code == 0
    again = story_of(plain)
    assert again.chosen is not None
    assert again.chosen.recorded is not None
    assert again.chosen.recorded.file == "stacks/dev/bindings.yaml"


def test_a_recorded_class_stands_and_what_would_be_chosen_now_is_told(tmp_path: Path) -> None:
    project = project_of(tmp_path, claim(ASKING_BY_REF, "  classSelector: {}\n"))
    assert run(project, "bind", "dev").exit_code == 0
    heavy = second_class(
        labels='labels: {tier: gold} => labels: {tier: gold}\n  annotations: {resourceclass.crossplane.io/weight: "7"}'
    )
    write_files(tmp_path, heavy)
    story = story_of(Project(tmp_path))
    assert story.chosen is not None
    assert story.chosen.klass.name == "small"
    assert story.chosen.today.startswith("CompositeResourceClass.infrastructure.crossplane.io/other (")


def test_the_class_before_is_told(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    assert run(project, "bind", "dev").exit_code == 0
    write_files(tmp_path, {**second_class(), PATH_CLAIM: spoilt(str(FILES[PATH_CLAIM]), "name: small", "name: other")})
    assert run(project, "bind", "dev", "--rebind", KEY).exit_code == 0
    story = story_of(Project(tmp_path))
    assert story.chosen is not None
    assert story.chosen.previous is not None
    assert (story.chosen.klass.name, story.chosen.previous.name) == ("other", "small")


# Identity


def test_identity_and_urns(plain: Project) -> None:
    story = story_of(plain)
    assert story.who is not None
    assert story.who.owner == f"shop/dev/{story.who.uid}"
    assert story.who.urn == f"{URN}{DATABASE}::default/sql"
    assert child_of(story, "my-sql-server").urn == (
        f"{URN}{DATABASE}$kubernetes:database.azure.crossplane.io/v1beta1:MySQLServer::default/sql/my-sql-server"
    )
    assert [s.urn for s in story.secrets] == [f"{URN}{DATABASE}$kubernetes:core/v1:Secret::default/sql/connection"]


def test_urns_of_composites_within_composites(platform: Project) -> None:
    story = story_of(platform, "blog")
    [store] = story.nested
    assert store.who is not None
    assert store.who.urn == f"{URN}claimsmith:web.example.org:Site$claimsmith:data.example.org:Store::blog/store"
    assert child_of(story, "store/server").urn == (
        f"{URN}claimsmith:web.example.org:Site$claimsmith:data.example.org:Store"
        "$kubernetes:database.azure.crossplane.io/v1beta1:MySQLServer::blog/store/server"
    )


# Children


def patches_of(child: ExplainedChild) -> dict[str, ExplainedPatch]:
    return {p.to: p for p in child.patches}


def test_patches_tell_what_they_read_and_wrote(plain: Project) -> None:
    patches = patches_of(child_of(story_of(plain), "resource-group"))
    location, size = patches["spec.location"], patches["spec.size"]
    assert (location.applied, location.value, location.transforms) == (True, "West US", ('map us-west → "West US"',))
    assert [(r.path, r.value, r.where.line) for r in location.reads] == [("spec.region", "us-west", 7)]
    assert (location.where.file, location.where.line) == (PATH_CLASS, 18)
    assert (size.value, size.transforms) == (10240, ("times 1024",))


def test_a_skipped_patch_tells_why(tmp_path: Path) -> None:
    story = story_of(project_of(tmp_path, claim("  size: 10\n", "")))
    size = patches_of(child_of(story, "resource-group"))["spec.size"]
    assert (size.applied, size.why) == (False, "spec.size: no such field")


def test_where_the_class_stands_against_the_claim_that_is_told(platform: Project, tmp_path: Path) -> None:
    claims = str(PLATFORM["stacks/dev/claims/more.yaml"])
    fast = spoilt(
        claims, '  engineVersion: "3.2"\n', '  engineVersion: "3.2"\n  classSelector: {matchLabels: {tier: fast}}\n'
    )
    write_files(tmp_path, {"stacks/dev/claims/more.yaml": fast})
    [patch] = child_of(story_of(Project(tmp_path), "cache"), "cloud-memorystore-instance").patches
    assert (patch.applied, patch.why) == (False, "the class has 'REDIS_4_0'")


def test_references_tell_what_was_picked(plain: Project) -> None:
    [reference] = child_of(story_of(plain), "my-sql-server").references
    assert reference.ref == "spec.forProvider.resourceGroupNameRef"
    assert (reference.picked, reference.sibling) == (f"{KEY}/resource-group", "resource-group")
    assert (reference.why, reference.where.line) == ("the only one", 33)


def test_a_reference_that_is_given_wins(tmp_path: Path) -> None:
    files = klass(
        "resourceGroupNameSelector: {matchComposite: true}",
        "resourceGroupNameSelector: {matchComposite: true}\n          resourceGroupNameRef: {name: mine}",
    )
    [reference] = child_of(story_of(project_of(tmp_path, files)), "my-sql-server").references
    assert (reference.ref, reference.name, reference.picked) == ("spec.forProvider.resourceGroupNameRef", "mine", "")
    assert "wins over the selector" in reference.why


def test_options_are_told(tmp_path: Path) -> None:
    child = child_of(story_of(project_of(tmp_path, klass("Delete", "Retain"))), "resource-group")
    assert (child.retain, child.wait_for, child.timeout) == (True, ("condition=Ready",), "30m")
    assert child.options[0] == "kept when the claim ends"


def test_secrets_tell_which_keys_come_from_where(platform: Project) -> None:
    [secret] = story_of(platform, "blog").nested[0].secrets
    [source] = secret.sources
    assert (secret.namespace, secret.name) == ("crossplane-system", "store")
    assert source.keys == (("username", "username"), ("address", "endpoint"))
    assert story_of(platform, "wish").contract == ("username", "address")


def test_the_external_name_is_told(platform: Project) -> None:
    assert child_of(story_of(platform, "cache"), "cloud-memorystore-instance").external_name == "shared-cheap"


# What is not bound, and what is wrong


def test_an_existing_resource_is_held(platform: Project) -> None:
    story = story_of(platform, "held")
    assert story.existing is not None
    assert str(story.existing.resource) == "CloudMemorystoreInstance.cache.gcp.crossplane.io/old"
    assert story.existing.urn.endswith(":CloudMemorystoreInstancePatch::team/held/hold")
    assert story.children == ()


def test_an_unbound_claim_tells_why(platform: Project) -> None:
    story = story_of(platform, "none")
    assert story.unbound is not None
    assert story.unbound.path == "spec.classSelector"
    assert len(story.candidates) == 3
    assert (story.chosen, story.failed) == (None, False)


def test_a_composite_that_nothing_serves_is_in_the_tree(tmp_path: Path) -> None:
    site = spoilt(str(PLATFORM["components/site/composition.yaml"]), "cloud: azure", "cloud: none")
    project = project_of(tmp_path, PLATFORM, {"components/site/composition.yaml": site})
    [store] = story_of(project, "blog").nested
    assert (store.template, store.chosen) == ("store", None)
    assert store.unbound is not None
    assert "cloud=none" in store.unbound.what


@pytest.mark.parametrize(
    ("files", "path"),
    [
        pytest.param(claim("us-west", "us-wst"), "spec.region", id="a-value-that-the-map-has-not"),
        pytest.param(
            klass("{matchComposite: true}", "{matchComposite: true, matchLabels: {a: b}}"),
            "spec.forProvider.resourceGroupNameSelector",
            id="a-selector-that-matches-nothing",
        ),
    ],
)
def test_what_is_wrong_with_one_claim_hides_no_other(tmp_path: Path, files: dict[str, str | bytes], path: str) -> None:
    project = project_of(tmp_path, PLATFORM, files)
    stories = {s.claim.name: s for s in stories_of(project, "dev")}
    assert [p.path for p in stories["sql"].problems] == [path]
    assert stories["sql"].failed
    assert stories["sql"].candidates
    assert not stories["cache"].failed
    assert run(project, "explain", "dev").exit_code == 1
    assert run(project, "explain", "dev", "cache").exit_code == 0


# One field


@pytest.mark.parametrize(
    ("child", "field", "value", "steps"),
    [
        pytest.param(
            "resource-group",
            "spec.location",
            "West US",
            [("base", PATH_CLASS, 15), ("patch", PATH_CLASS, 18)],
            id="a-patch-over-the-base",
        ),
        pytest.param("resource-group", "spec.reclaimPolicy", "Delete", [("base", PATH_CLASS, 16)], id="a-literal"),
        pytest.param("resource-group", "spec.size", 10240, [("patch", PATH_CLASS, 23)], id="a-patch-alone"),
        pytest.param("resource-group", "kind", "ResourceGroup", [("base", PATH_CLASS, 13)], id="the-kind"),
        pytest.param(
            "my-sql-server",
            "spec.forProvider.resourceGroupNameRef",
            None,
            [("reference", PATH_CLASS, 33)],
            id="a-reference",
        ),
        pytest.param(
            "my-sql-server",
            "spec.writeConnectionSecretToRef.namespace",
            "crossplane-system",
            [("base", PATH_CLASS, 35)],
            id="beside-what-is-generated",
        ),
    ],
)
def test_fields(plain: Project, child: str, field: str, value: Any, steps: list[tuple[str, str, int]]) -> None:
    trace = traced(plain, child, field)
    assert trace.value == (value if value is not None else trace.value)
    assert [(s.by, s.where.file, s.where.line) for s in trace.steps if s.where] == steps


@pytest.mark.parametrize(
    "field",
    [
        "metadata.name",
        "metadata.labels[resourceclaim.crossplane.io/uid]",
        "spec.compositeRef.name",
        "spec.writeConnectionSecretToRef.name",
    ],
)
def test_fields_that_the_identity_makes(plain: Project, field: str) -> None:
    assert [s.by for s in traced(plain, "my-sql-server", field).steps] == ["identity"]


def test_a_field_of_a_template_text(tmp_path: Path) -> None:
    project = Project(write_files(tmp_path, TEMPLATED))
    child = child_of(story_of(project, "sql"), "resource-group")
    [step] = traced(project, "resource-group", "spec.location").steps
    assert child.engine == "jinja2"
    assert (step.by, step.what, step.value) == ("template", "written by the jinja2 template", "us-west")
    assert step.where is not None
    assert step.where.file == PATH_CLASS


def test_a_skipped_patch_explains_a_field_that_is_not_there(tmp_path: Path) -> None:
    trace = traced(project_of(tmp_path, claim("  size: 10\n", "")), "resource-group", "spec.size")
    assert [(s.by, s.what) for s in trace.steps] == [("patch", "skipped")]
    assert trace.to_dict()["present"] is False


@pytest.mark.parametrize(
    ("claim", "child", "field", "by", "words"),
    [
        pytest.param(
            "cache",
            "cloud-memorystore-instance",
            "metadata.annotations[crossplane.io/external-name]",
            ["identity"],
            "the claim's external name, with the suffix '-cheap'",
            id="external-name",
        ),
        pytest.param(
            "cache",
            "cloud-memorystore-instance",
            "spec.forProvider.tier",
            ["base"],
            "written in the class",
            id="000",
        ),
        pytest.param("blog", "store/server", "spec.forProvider.storageMB", ["patch"], "applied", id="nested"),
        pytest.param("blog", "store", "spec.storageGB", ["patch"], "applied", id="of-a-composite"),
        pytest.param("wish", "store", "spec.storageGB", ["patch"], "applied", id="of-a-requirement"),
    ],
)
def test_fields_of_every_dialect(
    platform: Project, claim: str, child: str, field: str, by: list[str], words: str
) -> None:
    trace = traced(platform, child, field, claim)
    assert [s.by for s in trace.steps] == by
    assert trace.steps[-1].what == words


@pytest.mark.parametrize(
    ("claim", "child", "field", "error"),
    [
        pytest.param("sql", "resource-group", "spec.locaton", ComposeError, id="no-such-field"),
        pytest.param("sql", "my-sql", "spec", ComposeError, id="no-such-child"),
        pytest.param("sql", None, "spec", ComposeError, id="which-child"),
        pytest.param("held", None, "spec", ComposeError, id="nothing-is-made"),
        pytest.param("none", None, "spec", ComposeError, id="not-bound"),
        pytest.param("sqlx", None, "spec", LoadError, id="no-such-claim"),
        pytest.param(None, None, "spec", LoadError, id="which-claim"),
        pytest.param("sql", "resource-group", "spec..x", EngineError, id="no-path"),
    ],
)
def test_fields_refused(
    platform: Project, claim: str | None, child: str | None, field: str, error: type[EngineError]
) -> None:
    with pytest.raises(error) as caught:
        traced(platform, child, field, claim)
    assert all(p.fix for p in caught.value.problems)


def test_values_before_and_after_each_transform(platform: Project) -> None:
    [step] = traced(platform, "store/server", "spec.forProvider.storageMB", "blog").steps
    assert step.patch is not None
    stages = [(s.before, s.value) for s in step.patch.stages]
    assert stages[1:] == [(stages[0][1], f"{stages[0][1]} MB")]
    assert stages[0][1] == stages[0][0] * 1024


def test_a_base_is_told_as_it_was_before_the_patches(plain: Project) -> None:
    first, *_ = traced(plain, "resource-group", "spec").steps
    assert "size" not in first.value


@pytest.mark.parametrize(
    ("claim", "child", "field", "by", "words"),
    [
        pytest.param(
            "sql", "my-sql-server", "metadata.annotations[claimsmith.io/owner]", "engine", "the owner", id="owner"
        ),
        pytest.param(
            "sql",
            "my-sql-server",
            "metadata.annotations[pulumi.com/patchFieldManager]",
            "engine",
            "who manages",
            id="manager",
        ),
        pytest.param(
            "sql", "my-sql-server", "metadata.annotations[pulumi.com/waitFor]", "engine", "waits for", id="wait"
        ),
        pytest.param("sql", "connection", "data.password", "secret", "the key 'password'", id="any-key-of-a-secret"),
        pytest.param("wish", "store/connection", "data.address", "secret", "the key 'endpoint'", id="a-renamed-key"),
        pytest.param("sql", "connection", "metadata.name", "identity", "written by claimsmith", id="a-secret's-name"),
        pytest.param("held", "hold", "spec.claimRef.name", "identity", "marks the existing", id="what-is-held"),
    ],
)
def test_fields_that_claimsmith_writes(
    platform: Project, claim: str, child: str, field: str, by: str, words: str
) -> None:
    [step] = traced(platform, child, field, claim).steps
    assert (step.by, words in step.what) == (by, True)


def test_what_is_told_to_the_engine_is_what_the_edge_writes(plain: Project) -> None:
    from claimsmith.deploy.kubernetes_object import engine_document
    from claimsmith.tools.explain.added_objects import engine_annotations_of
    from claimsmith.tools.explain.facts import Place

    known = facts(plain, "dev").find("sql")[0]
    assert known.draft is not None
    for child in known.draft.children:
        annotations = engine_annotations_of(child, Place(facts(plain, "dev"), known.draft, known.planned, (), ""))
        written = engine_document(child.document, child.options, known.draft.identity)["metadata"]["annotations"]
        ours = {
            key: value for key, value in written.items() if key not in child.document["metadata"].get("annotations", {})
        }
        assert {key: value for key, (value, _) in annotations.items()} == ours


def test_no_value_of_a_secret_is_ever_told(platform: Project) -> None:
    trace = traced(platform, "connection", "data", "sql")
    assert {s.value for s in trace.steps} == {trace.value} == {"(secret)"}


def test_defaults_of_a_definition(tmp_path: Path) -> None:
    definitions = spoilt(DEFINITIONS, "engineVersion: {type: string}", 'engineVersion: {type: string, default: "8"}')
    site = spoilt(SITE, '        engineVersion: "5.7"\n', "")
    files = {"components/definitions/definitions.yaml": definitions, "components/site/composition.yaml": site}
    [step] = traced(project_of(tmp_path, PLATFORM, files), "store", "spec.engineVersion", "blog").steps
    assert (step.by, step.value) == ("definition", "8")
    assert step.where is not None
    assert step.where.file == "components/definitions/definitions.yaml"


@pytest.mark.parametrize(("kept", "count"), [("true", 2), ("false", 0)])
def test_records_have_urns_where_the_stack_keeps_them(tmp_path: Path, kept: str, count: int) -> None:
    config = {"stacks/Pulumi.dev.yaml": f'config: {{"claimsmith:records": "{kept}"}}\n'}
    project = project_of(tmp_path, config)
    records = story_of(project).records
    assert [r.word for r in records] == ["composite", "claim"][:count]
    assert all(r.urn.startswith("urn:pulumi:dev::") and r.urn.endswith(f"/sql/{r.word}") for r in records)
    if count:
        assert [s.by for s in traced(project, "claim", "spec.region").steps] == ["record"]


def test_a_trace_has_the_urn_of_its_child(platform: Project) -> None:
    for one in ("sql", "blog", "cache"):
        for name, part in dict(story_of(platform, one).parts()).items():
            urn = part.urn if isinstance(part, ExplainedChild) else part.who.urn if part.who else ""
            assert traced(platform, name, "kind", one).urn == urn


# The command


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("stack", "dev", "Database/default/sql"), id="as-a-sentence"),
        pytest.param(("dev", "Database/default/sql"), id="in-short"),
    ],
)
def test_a_field_of_whichever_child_has_it(plain: Project, words: tuple[str, ...]) -> None:
    result = run(plain, "explain", *words, "--field", "spec.location")
    assert result.exit_code == 0
    assert result.stdout.startswith("spec.location of resource-group")
    assert '"us-west" → "West US" by map' in result.stdout


def test_a_field_of_every_child_that_has_it(plain: Project) -> None:
    found = json.loads(run(plain, "explain", "dev", "sql", "--field", "metadata.name", "--output", "json").stdout)
    assert [t["child"] for t in found["fields"]] == ["resource-group", "my-sql-server"]


def test_a_field_that_nothing_has(plain: Project) -> None:
    result = run(plain, "explain", "dev", "sql", "--field", "spec.locaton")
    assert (result.exit_code, "did you mean 'spec.location'?" in result.stderr) == (1, True)


def test_one_claim_at_a_time(plain: Project) -> None:
    assert run(plain, "explain", "dev", "sql", "other").exit_code == 2


@pytest.mark.parametrize("name", [KEY, "Database/default/sql", "default/sql", "sql"])
def test_a_claim_by_any_of_its_names(platform: Project, name: str) -> None:
    assert str(story_of(platform, name).claim) == KEY


@pytest.mark.parametrize(
    ("claim", "fix"),
    [
        pytest.param("sqk", "did you mean", id="a-slip"),
        pytest.param("zzzzzz", "use one of", id="nothing-like-it"),
    ],
)
def test_a_claim_that_is_not_there(platform: Project, claim: str, fix: str) -> None:
    with pytest.raises(LoadError) as caught:
        story_of(platform, claim)
    assert fix in caught.value.problems[0].fix


def test_a_name_of_two_claims_is_refused(tmp_path: Path) -> None:
    twin = {"stacks/dev/claims/d.yaml": spoilt(str(FILES[PATH_CLAIM]), "namespace: default", "namespace: other")}
    project = project_of(tmp_path, twin)
    with pytest.raises(LoadError) as caught:
        story_of(project, "sql")
    assert "other/sql" in caught.value.problems[0].fix


def test_the_text_tells_it_all(platform: Project) -> None:
    result = run(platform, "explain", "dev")
    assert result.exit_code == 0
    for part in (
        "class: CompositeResourceClass small (composite class)  [components/x/class.yaml:4]",
        'applied: spec.region "us-west" → spec.location "West US"; map us-west → "West US"',
        "unbound: stacks/dev/claims/more.yaml:15:3: no class for RedisCluster.cache.crossplane.io matches",
        "holds: CloudMemorystoreInstance.cache.gcp.crossplane.io/old",
        "    store: Store blog-",
        "username, address (its endpoint)",
    ):
        assert part in result.stdout
    assert all(line.strip() == line or line.startswith("  ") for line in result.stdout.splitlines())


def test_the_same_text_twice(platform: Project) -> None:
    assert run(platform, "explain", "dev").stdout == run(platform, "explain", "dev").stdout


def test_json_tells_the_same(platform: Project) -> None:
    found = {s["claim"]: s for s in json.loads(run(platform, "explain", "dev", "--output", "json").stdout)["claims"]}
    story = found[KEY]
    assert story["chosen"]["class"] == "CompositeResourceClass.infrastructure.crossplane.io/small"
    assert [c["template"] for c in story["children"]] == ["resource-group", "my-sql-server"]
    assert story["children"][0]["patches"][0]["where"] == {"file": PATH_CLASS, "line": 18, "column": 7}
    assert found["Site.web.example.org/blog"]["nested"][0]["children"][0]["template"] == "server"


@pytest.mark.parametrize("output", ["text", "json"])
def test_one_child(plain: Project, output: str) -> None:
    result = run(plain, "explain", "dev", "sql", "--child", "my-sql-server", "--output", output)
    assert result.exit_code == 0
    assert "MySQLServer" in result.stdout
    assert "ResourceGroup default" not in result.stdout


@pytest.mark.parametrize("output", ["text", "json"])
def test_one_field(plain: Project, output: str) -> None:
    arguments = ("--child", "resource-group", "--field", "spec.location", "--output", output)
    result = run(plain, "explain", "dev", "sql", *arguments)
    assert result.exit_code == 0
    assert "West US" in result.stdout
    assert "stacks/dev/claims/c.yaml" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("dve",), id="no-such-stack"),
        pytest.param(("dev", "sqk"), id="no-such-claim"),
        pytest.param(("dev", "sql", "--child", "server"), id="no-such-child"),
        pytest.param(("dev", "sql", "--child", "resource-group", "--field", "spec.x"), id="no-such-field"),
    ],
)
def test_the_command_refuses(plain: Project, arguments: tuple[str, ...]) -> None:
    result = run(plain, "explain", *arguments)
    assert result.exit_code == 1
    assert "fix: " in result.stderr


# In words


@pytest.mark.parametrize(
    ("transform", "want"),
    [
        pytest.param({"type": "map", "map": {"a": 1}}, "map a → 1", id="map"),
        pytest.param(
            {"type": "map", "map": {c: c for c in "abcdef"}},
            'map a → "a", b → "b", c → "c", d → "d" and 2 more',
            id="long-map",
        ),
        pytest.param(
            {"type": "match", "match": {"patterns": [{"literal": "a", "result": 1}, {"regexp": "^b", "result": 2}]}},
            "match a → 1, /^b/ → 2; else null",
            id="match",
        ),
        pytest.param(
            {"type": "match", "match": {"patterns": [{"literal": "a", "result": 1}], "fallbackTo": "Input"}},
            "match a → 1; else the value itself",
            id="match-else-input",
        ),
        pytest.param({"type": "math", "math": {"multiply": 2}}, "times 2", id="multiply"),
        pytest.param({"type": "math", "math": {"type": "ClampMin", "clampMin": 2}}, "at least 2", id="clamp-min"),
        pytest.param({"type": "math", "math": {"type": "ClampMax", "clampMax": 2}}, "at most 2", id="clamp-max"),
        pytest.param({"type": "string", "string": {"fmt": "%s-x"}}, "format '%s-x'", id="format"),
        pytest.param(
            {"type": "string", "string": {"type": "Convert", "convert": "ToUpper"}}, "text ToUpper", id="convert-text"
        ),
        pytest.param(
            {"type": "string", "string": {"type": "TrimPrefix", "trim": "a"}}, "without the prefix 'a'", id="prefix"
        ),
        pytest.param(
            {"type": "string", "string": {"type": "TrimSuffix", "trim": "a"}}, "without the suffix 'a'", id="suffix"
        ),
        pytest.param(
            {"type": "string", "string": {"type": "Regexp", "regexp": {"match": "a(b)", "group": 1}}},
            "what /a(b)/ finds, group 1",
            id="regexp",
        ),
        pytest.param(
            {"type": "string", "string": {"type": "Join", "join": {"separator": ","}}}, "joined with ','", id="join"
        ),
        pytest.param(
            {"type": "string", "string": {"type": "Replace", "replace": {"search": "a", "replace": "b"}}},
            "'a' replaced by 'b'",
            id="replace",
        ),
        pytest.param({"type": "convert", "convert": {"toType": "int64"}}, "convert to int64", id="convert"),
        pytest.param(
            {"type": "convert", "convert": {"toType": "float64", "format": "quantity"}},
            "convert to float64, read as quantity",
            id="quantity",
        ),
    ],
)
def test_transforms_in_words(transform: dict[str, Any], want: str) -> None:
    assert formatting.transform_text(parse_transform(transform)) == want


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param({"matchLabels": {"a": "1"}}, "", id="fits"),
        pytest.param({}, "", id="anything"),
        pytest.param({"matchLabels": {"a": "2"}}, "a is '1', not '2'", id="other-value"),
        pytest.param({"matchLabels": {"b": "2"}}, "no label b", id="no-label"),
        pytest.param(
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["2", "3"]}]},
            "a is '1', not one of 2, 3",
            id="in",
        ),
        pytest.param(
            {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, "a is '1'", id="not-in"
        ),
        pytest.param({"matchExpressions": [{"key": "b", "operator": "Exists"}]}, "no label b", id="exists"),
        pytest.param(
            {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]},
            "there is a label a",
            id="does-not-exist",
        ),
    ],
)
def test_why_labels_do_not_fit(selector: dict[str, Any], want: str) -> None:
    assert formatting.mismatch(Selector.model_validate(selector), {"a": "1"}) == want


def test_options_in_words() -> None:
    assert formatting.options_text(Options(wait_for=())) == ["deleted with the claim", "not waited for"]
    assert formatting.options_text(Options(protect=True))[-1].startswith("protected")


# Crossplane


@pytest.fixture
def crossplane(tmp_path: Path) -> Project:
    case = ROOT / "tests" / "golden" / "crossplane-database"
    files = {
        "Pulumi.yaml": "name: p\nruntime: python\n",
        "components/x/platform.yaml": (case / "platform.yaml").read_text(encoding="utf-8"),
        "stacks/dev/claims/claim.yaml": (case / "claim.yaml").read_text(encoding="utf-8"),
    }
    return Project(write_files(tmp_path, files))


@pytest.mark.parametrize(
    ("child", "field", "by", "words"),
    [
        pytest.param("network", "spec.forProvider.account", ["patch"], "applied", id="the-environment"),
        pytest.param("server", "spec.forProvider.tags.team", ["patch", "patch"], "applied", id="patched-environment"),
        pytest.param("server", "spec.forProvider.networkId", ["patch"], "applied", id="a-sibling's-status"),
        pytest.param("server", "spec.forProvider.tier", ["base", "patch"], "applied", id="a-match"),
        pytest.param("settings", "data.owner", ["patch"], "applied", id="combined-from-the-environment"),
        pytest.param("connection", "data.username", ["secret"], "the key 'user'", id="a-renamed-key"),
    ],
)
def test_fields_of_crossplane_compositions(
    crossplane: Project, child: str, field: str, by: list[str], words: str
) -> None:
    trace = traced(crossplane, f"x-database/{child}", field, "orders")
    assert [s.by for s in trace.steps] == by
    assert words in trace.steps[-1].what
    patch = trace.steps[-1].patch
    assert patch is None or patch.value == trace.value or trace.value == str(patch.value)
    assert all(s.where for s in trace.steps)


def test_defaults_of_crossplane_definitions(crossplane: Project) -> None:
    trace = traced(crossplane, "x-database", "spec.region", "orders")
    assert trace.value == "eu"
    assert trace.steps
