"""A review written down: as text, Markdown, JSON and HTML. What comes from files is never taken for markup."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from claimsmith.tools.review.changes import CodeChange, Difference, Level, Previewed, Review, ReviewWarning, StackReview
from claimsmith.tools.review.markdown import LIMIT, MARK, markdown
from claimsmith.tools.review.outputs import WRITERS, answer
from claimsmith.tools.review.page import page
from tests.support import comment, json_schemas
from tests.support.review_files import CLASS, SQL, base, changed, put, reviewed, set_file, sql
from tests.support.samples import patch

EVIL = '</style><script>alert("x")</script><img src=x onerror=1> `a` | @team *b* [l](http://x) &amp;'
SERVER_AT = "spec/resources/1/base/spec"


def review(*stacks: StackReview, **more: Any) -> Review:
    return Review("shop", "main", "0123456789abcdef", stacks, **more)


@pytest.fixture
def rich(tmp_path: Path) -> Review:
    """A review with all that there may be in one."""
    after = changed(
        put(SQL, "spec/size", 20),
        put(CLASS, "spec/resources/0/base/apiVersion", "azure.crossplane.io/v1beta1"),
        put(CLASS, "spec/resources/0/base/spec/location", EVIL),
        set_file("stacks/dev/claims/more.yaml", sql("more")),
    )
    found = reviewed(tmp_path, base(), after)
    difference = Difference(found.claims[0].resources[0].urn, "same", "updated", EVIL)
    preview = Previewed({"updated": 1}, 3, (difference,), ("1 provider updated",))
    warning = ReviewWarning("x", Level.danger, EVIL, found.claims[0].claim, "p", None, EVIL)
    stack = replace(found, preview=preview, warnings=(*found.warnings, warning))
    code = CodeChange("components/db/component.py", "changed", 1, 1, ("@@ -1 +1 @@", f"-{EVIL}", "+b"))
    return review(stack, code=(code,))


@pytest.mark.parametrize("output", list(WRITERS))
def test_each_form_tells_the_change(rich: Review, output: str) -> None:
    text = WRITERS[output](rich)
    for word in ("storageMB", "10240", "20480", "components/db/class.yaml", "Database default/sql", "shop"):
        assert word in text, word
    assert text == WRITERS[output](rich)


def test_nothing_is_reported_where_nothing_changes(tmp_path: Path) -> None:
    quiet = review(reviewed(tmp_path, base(), base()))
    assert "Nothing changes\n" in WRITERS["terminal"](replace(quiet, stacks=(replace(quiet.stacks[0], refusals=()),)))
    assert "<details" not in WRITERS["markdown"](quiet)


def test_the_shape_of_the_json(rich: Review) -> None:
    found = json_schemas.answer(["review"], WRITERS["json"](rich))
    assert found == json.loads(json.dumps(answer(rich).to_dict()))
    assert set(found) == {
        "format", "banner", "changes", "destructive", "failed", "alerts", "project", "base", "commit", "stacks", "code",
        "warnings", "link",
    }  # fmt: skip
    [stack] = found["stacks"]
    assert set(stack) == {
        "stack", "claims", "given", "warnings", "unchanged", "refusals", "problems", "unread", "preview", "counts",
        "destructive",
    }  # fmt: skip
    claim = next(c for c in stack["claims"] if c["change"] == "changed")
    assert set(claim) == {
        "claim", "short", "change", "classBefore", "classAfter", "reason", "where", "urn", "resources", "kept", "stays",
    }  # fmt: skip
    alert = found["alerts"][-1]
    assert set(alert) == {"level", "what", "stacks", "rule", "where", "path", "fix", "subjects", "count"}
    assert set(alert["subjects"][0]) == {"stack", "name", "claim", "part", "where"}
    server = next(r for r in claim["resources"] if r["part"] == "my-sql-server")
    assert set(server) == {
        "part", "apiVersion", "kind", "namespace", "name", "op", "urn", "fields", "settings", "why", "where",
        "holdsData", "cluster", "address", "refers",
    }  # fmt: skip
    [field] = server["fields"]
    assert set(field) == {"path", "old", "new", "cause", "replaces", "secret", "immutable", "parts"}
    assert field["cause"]["where"] == {"file": CLASS, "line": field["cause"]["where"]["line"], "column": 7}


# Markdown


def claims(count: int) -> dict[str, Any]:
    """Claims, each in a file of its own."""
    return {f"stacks/dev/claims/{i}.yaml": sql(f"sql{i}") for i in range(count)}


def apart(tmp_path: Path, count: int, **more: Any) -> Review:
    """The review of claims that each change in another way, so that none can be folded."""
    before = {**base(), **claims(count)}
    after = changed(*(put(f"stacks/dev/claims/{i}.yaml", f"spec/extra{i}", "x") for i in range(count)), start=before)
    reads = [patch(f"spec.extra{i}", f"spec.forProvider.extra{i}") for i in range(count)]
    for files in (before, after):
        files[CLASS]["spec"]["resources"][1]["patches"] += reads
    return review(reviewed(tmp_path, before, after), **more)


@pytest.mark.parametrize("count", [1, 200])
def test_a_comment_is_never_too_long(tmp_path: Path, count: int) -> None:
    text = markdown(apart(tmp_path, count), limit=LIMIT // 4)
    assert len(text) <= LIMIT // 4
    assert text.startswith(MARK)
    assert ("more, which do not fit here" in text) is (count > 1)
    assert ("See the rest: `claimsmith review --base main`" in text) is (count > 1)
    assert text.count("<details>") == text.count("</details>")


def test_the_comment_links_to_the_page(tmp_path: Path) -> None:
    page_at = "https://ci.example.org/runs/1"
    text = markdown(apart(tmp_path, 1, link=page_at))
    assert f"[All changes, with graphs]({page_at})" in text
    assert "](" not in markdown(apart(tmp_path, 1, link="javascript:alert(1)"))


def test_what_is_loudest_is_reported_even_where_little_fits(rich: Review) -> None:
    text = markdown(rich, limit=2600)
    assert len(text) <= 2600
    assert "would be lost" in text


def test_markdown_takes_nothing_from_files_for_markup(rich: Review) -> None:
    found = comment.shown(markdown(rich))
    names = {name for name, _ in found.tags}
    assert not names & {"script", "img", "a", "em", "style"}
    assert found.live == []
    assert any("[l](http://x)" in text for text in found.literal)


# HTML


class Seen(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def seen(text: str) -> Seen:
    parser = Seen()
    parser.feed(text)
    return parser


def test_the_page_takes_nothing_from_files_for_markup(rich: Review) -> None:
    found = seen(page(rich))
    names = {name for name, _ in found.tags}
    assert not names & {"script", "img", "iframe", "link", "object", "form", "input", "base"}
    assert not [a for _, attrs in found.tags for a in attrs if a.startswith("on") or a == "style"]
    assert page(rich).count("<script") == 0


def test_the_page_asks_for_nothing(rich: Review) -> None:
    found = seen(page(rich))
    addresses = [attrs[a] for _, attrs in found.tags for a in ("href", "src", "xlink:href") if a in attrs]
    assert addresses
    assert all(address and address.startswith("#") for address in addresses)
    policies = [attrs["content"] for name, attrs in found.tags if name == "meta" and "http-equiv" in attrs]
    assert len(policies) == 1
    assert policies[0]
    assert policies[0].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policies[0]


def test_links_of_the_page_lead_somewhere(rich: Review) -> None:
    found = seen(page(rich))
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    links = [str(attrs["href"]).removeprefix("#") for name, attrs in found.tags if name == "a"]
    assert len(ids) == len(set(ids))
    assert links
    assert set(links) <= set(ids)


def test_the_page_of_many_claims_is_small_and_names_each(tmp_path: Path) -> None:
    before = {**base(), **claims(200)}
    after = changed(put(CLASS, f"{SERVER_AT}/forProvider/sku/tier", "Memory"), start=before)
    text = page(review(reviewed(tmp_path, before, after)))
    assert len(text) < 200_000
    assert all(f"default/sql{i} <" in text for i in range(200))
