"""A component that is not what `generate` would write now is refused: by validate, by review, by the deployment."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from claimsmith.base.errors import GenerateError
from claimsmith.cli.app import app
from claimsmith.deploy import program
from claimsmith.project.components import component_problems, order_problems
from claimsmith.project.project import Project
from claimsmith.tools.bind import bind
from claimsmith.tools.generate import generate
from claimsmith.tools.validate import validate
from tests.support import samples
from tests.support.refusal_files import CLAIM, CLASS, FILES, PATH_CLAIM, PATH_CLASS, klass, spoilt
from tests.support.review_files import committed
from tests.support.samples import write_files

Files = dict[str, str | bytes]
Change = Callable[[Path], Files]
COMPONENT = "components/x/component.py"
TABLE = "components/references.yaml"
SELECTOR = "        peerSelector: {matchComposite: true}\n"
SUBNET = "  - base: {apiVersion: network.azure.crossplane.io/v1alpha3, kind: Subnet}\n"
SELECTING = spoilt(CLASS, "{matchComposite: true}\n", "{matchComposite: true}\n" + SELECTOR) + SUBNET
PROTECTING = spoilt(SELECTING, "  labels:", '  annotations: {claimsmith.io/protect: "true"}\n  labels:')


def peer(kind: str) -> Files:
    """The reference table with what the class's own selector selects."""
    return {TABLE: f"references:\n  MySQLServer.database.azure.crossplane.io: {{peer: {kind}.azure.crossplane.io}}\n"}


def edited(old: str, new: str) -> Change:
    """The component with a text changed by hand."""
    return lambda root: {COMPONENT: spoilt((root / COMPONENT).read_text(encoding="utf-8"), old, new)}


NOT_GENERATED = [
    pytest.param(lambda _: {PATH_CLASS: PROTECTING}, "stale", id="class-that-protects"),
    pytest.param(lambda _: peer("Subnet.network"), "stale", id="changed-reference-table"),
    pytest.param(lambda _: {COMPONENT: "# Digest: sha256:\n"}, "stale", id="empty-digest"),
    pytest.param(edited("# Digest: sha256:", "# Digest: sha512:"), "stale", id="another-digest"),
    pytest.param(edited('"West US")', '"East US")'), "edited by hand", id="edited"),
    pytest.param(edited("import pulumi\n", "import (\n"), "edited by hand", id="no-longer-python"),
]
"""What happens to a generated project, and what is said of it. The bindings hold all the same."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is bound, generated and committed, and the folder that commands run in."""
    write_files(tmp_path, {**FILES, PATH_CLASS: SELECTING, **peer("ResourceGroup"), ".gitignore": ".claimsmith/\n"})
    generate(Project(tmp_path))
    bind(Project(tmp_path), "dev")
    monkeypatch.chdir(tmp_path)
    return committed(tmp_path, {})


def test_nothing_is_said_of_what_was_just_generated(root: Path) -> None:
    assert CliRunner().invoke(app, ["validate"]).exit_code == 0
    assert set(program.components_of(Project(root), Project(root).plan("dev")))


@pytest.mark.parametrize(("change", "word"), NOT_GENERATED)
def test_validate_refuses(root: Path, change: Change, word: str) -> None:
    write_files(root, change(root))
    ran = CliRunner().invoke(app, ["validate"])
    assert (ran.exit_code, word in ran.stderr, "run: claimsmith generate" in ran.stderr) == (1, True, True)


@pytest.mark.parametrize(("change", "word"), NOT_GENERATED)
def test_review_refuses(root: Path, change: Change, word: str) -> None:
    write_files(root, change(root))
    ran = CliRunner().invoke(app, ["review", "--output", "json"])
    [stack] = json.loads(ran.stdout)["stacks"]
    [refusal] = stack["refusals"]
    assert (ran.exit_code, word in refusal["what"]) == (1, True)
    assert refusal["fix"].endswith("run: claimsmith generate")


@pytest.mark.parametrize(("change", "word"), NOT_GENERATED)
def test_the_deployment_refuses(root: Path, change: Change, word: str) -> None:
    write_files(root, change(root))
    project = Project(root)
    with pytest.raises(GenerateError, match=word) as caught:
        program.components_of(project, project.plan("dev"))
    assert all(p.fix.endswith("run: claimsmith generate") for p in caught.value.problems)


@pytest.mark.parametrize(("change", "word"), NOT_GENERATED)
def test_generate_mends_it(root: Path, change: Change, word: str) -> None:
    write_files(root, change(root))
    assert CliRunner().invoke(app, ["generate"]).exit_code == 0
    assert CliRunner().invoke(app, ["validate"]).exit_code == 0


def test_a_changed_base_makes_stale_too(root: Path) -> None:
    write_files(root, klass("West US\n        rec", "East US\n        rec"))
    project = Project(root)
    [problem] = component_problems(project, project.catalog().classes.values())
    assert (problem.rule, problem.fix) == ("stale-component", "run: claimsmith generate")


def test_another_layout_is_the_same_component(root: Path) -> None:
    text = (root / COMPONENT).read_text(encoding="utf-8")
    write_files(root, {COMPONENT: text.replace("\n\n\n", "\n\n\n\n") + "# the end\n"})
    assert component_problems(Project(root), Project(root).catalog().classes.values()) == []


def test_a_class_that_only_another_stack_is_offered_is_part_of_the_module(root: Path) -> None:
    """The module is that of all classes of its folder, whichever of them a stack sees."""
    elsewhere = spoilt(CLASS, "name: small", "name: big")
    elsewhere = spoilt(elsewhere, "  labels:", "  annotations: {claimsmith.io/stacks: prod}\n  labels:")
    write_files(root, {"components/x/big.yaml": elsewhere})
    generate(Project(root))
    assert set(program.components_of(Project(root), Project(root).plan("dev")))


# The order in which a component creates its resources

COMPUTE = "compute.gcp.crossplane.io/v1beta1"
NETWORK = f"  - base: {{apiVersion: {COMPUTE}, kind: Network, metadata: {{labels: {{shared: 'yes'}}}}}}\n"
LABELS = "{matchLabels: {shared: 'yes'}}"
SUBNETWORK = f"""\
  - base:
      apiVersion: {COMPUTE}
      kind: Subnetwork
      spec: {{forProvider: {{networkSelector: {LABELS}}}}}
"""
COPIED = f"""\
  - base: {{apiVersion: {COMPUTE}, kind: Subnetwork, spec: {{forProvider: {{}}}}}}
    patches: [{{fromClaimFieldPath: spec.network, toResourceFieldPath: spec.forProvider.networkSelector}}]
"""
HEAD = CLASS.partition("  - base:")[0]


def created(*templates: str) -> Files:
    claim = spoilt(CLAIM, "  size: 10\n", f"  size: 10\n  network: {LABELS}\n")
    return {**FILES, PATH_CLASS: HEAD + "".join(templates), PATH_CLAIM: claim}


def definition(kind: str) -> dict[str, Any]:
    name = kind.lower()
    names = {"kind": kind, "plural": f"{name}s", "singular": name, "listKind": f"{kind}List"}
    schema = {"type": "object", "properties": {"note": {"type": "string"}}}
    return {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "InfrastructureDefinition",
        "metadata": {"name": f"{name}s.acme.example.org"},
        "spec": {
            "crdSpecTemplate": {
                "group": "acme.example.org",
                "version": "v1",
                "names": names,
                "validation": {"openAPIV3Schema": schema},
            }
        },
    }


def composition(kind: str, *bases: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.crossplane.io/v1alpha1",
        "kind": "Composition",
        "metadata": {"name": kind.lower()},
        "spec": {
            "from": {"apiVersion": "acme.example.org/v1", "kind": kind},
            "to": [{"name": f"part-{index}", "base": base} for index, base in enumerate(bases)],
        },
    }


def composite(kind: str, **more: Any) -> dict[str, Any]:
    infrastructure = {"compositionRef": {"name": kind.lower()}}
    return {"apiVersion": "acme.example.org/v1", "kind": kind, **more, "spec": {"infrastructure": infrastructure}}


def nested(*, inner_first: bool) -> Files:
    """A composite whose subnetwork selects the network of a composite within it."""
    whole = [composite("Part"), samples.SUBNETWORK][:: 1 if inner_first else -1]
    compositions = composition("Whole", *whole), composition("Part", samples.NETWORK)
    settings = {
        "apiVersion": "claimsmith.io/v1alpha1",
        "kind": "Settings",
        "claims": [{"folder": ".", "namespaces": ["*"], "allow": ["composites"]}],
    }
    return {
        PATH_CLASS: yaml.safe_dump_all(compositions, sort_keys=False),
        "components/x/definitions.yaml": yaml.safe_dump_all(map(definition, ("Whole", "Part"))),
        PATH_CLAIM: yaml.safe_dump(composite("Whole", metadata={"name": "one"})),
        "claimsmith.yaml": yaml.safe_dump(settings),
    }


ORDERS = [
    pytest.param(nested(inner_first=False), (16, 11), id="within-another-composite"),
    pytest.param(nested(inner_first=True), None, id="within-another-composite-listed-before"),
    pytest.param(created(SUBNETWORK, NETWORK), (14, 28), id="selected-by-labels"),
    pytest.param(created(COPIED, NETWORK), (11, 84), id="copied-from-the-claim"),
    pytest.param(created(NETWORK, SUBNETWORK), None, id="listed-before"),
    pytest.param(
        created(SUBNETWORK.replace("{matchLabels", "{matchControllerRef: true, matchLabels"), NETWORK),
        None,
        id="siblings",
    ),
]


@pytest.mark.parametrize(("files", "place"), ORDERS)
def test_a_resource_is_selected_after_its_creation(tmp_path: Path, files: Files, place: tuple[int, int] | None) -> None:
    """What the program would refuse in the middle of a deployment is refused before, with the same fix."""
    project = Project(write_files(tmp_path, files))
    generate(project)
    bind(project, "dev")
    plan = project.plan("dev")
    found = order_problems(project, plan)
    assert [(p.where.file, p.where.line, p.where.column) for p in found if p.where] == (
        [(PATH_CLASS, *place)] if place else []
    )
    assert validate(project, ["dev"]).errors == found
    if found:
        with pytest.raises(GenerateError, match="put its template before the one that refers to it") as refused:
            program.components_of(project, plan)
        assert list(refused.value.problems) == found
