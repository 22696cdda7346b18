from __future__ import annotations

import yaml

from claimsmith import render
from claimsmith.base import yaml_text
from claimsmith.base.values import Ref
from claimsmith.platform import selection
from tests.support.samples import GROUP, SERVER, claim_data, class_data, planned

CLASS = class_data("c", {"base": SERVER}, {"base": GROUP}, annotations={selection.IS_DEFAULT: "true"})


def plan():
    return planned([CLASS], [claim_data(n, writeConnectionSecretToRef={"name": n}) for n in ("a", "b")])


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert render.render(plan()) == render.render(plan())


def test_it_is_yaml_that_says_what_the_documents_say() -> None:
    made = plan()
    assert list(yaml.safe_load_all(render.render(made))) == [d for c in made.claims for d in render.documents(c)]


def test_the_stream_is_the_text_in_parts() -> None:
    parts = list(render.stream(plan()))
    assert len(parts) == 2
    assert "".join(parts) == render.render(plan())


def test_each_claim_says_who_serves_it_and_why() -> None:
    text = render.render(plan())
    assert "default/a, served by CompositeResourceClass.infrastructure.crossplane.io/c (default class)" in text


def test_the_secret_comes_last_and_without_data() -> None:
    last = render.documents(plan().claims[0])[-1]
    assert last["kind"] == "Secret"
    assert not {"data", "stringData"} & last.keys()


def test_where_the_data_comes_from_is_a_comment() -> None:
    made = plan()
    source = made.claims[0].connection.sources[0]
    assert f"# its data: the keys of {source} (MySQLServer)" in render.render(made)


def test_there_is_no_secret_without_sources() -> None:
    klass = class_data("c", {"base": GROUP}, annotations={selection.IS_DEFAULT: "true"})
    plan = planned([klass], [claim_data(writeConnectionSecretToRef={"name": "s"})])
    assert "kind: Secret" not in render.render(plan)
    assert ["none is created" in warning.what for warning in plan.warnings] == [True]


def test_there_are_no_anchors() -> None:
    shared = {"a": 1}
    assert "&" not in yaml_text.dumped({"x": shared, "y": shared})


def test_a_value_that_is_not_known_yet_is_shown_by_its_source() -> None:
    document = {"known": Ref("claim/t", ("metadata", "name"), known="x"), "not": Ref("claim/t", ("status", "id"))}
    assert render.plain(document) == {"known": "x", "not": "<claim/t:status.id>"}


def test_nothing_is_rendered_as_nothing() -> None:
    assert render.render(planned([CLASS], [])) == ""
