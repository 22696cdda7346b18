"""The page of a review in a real browser: a reader finds the change and follows links to a claim, scripts on or off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from claimsmith.tools.review.changes import CodeChange, Review
from claimsmith.tools.review.page import page
from tests.support.browser import DESK, PHONE, Browser, Page
from tests.support.review_files import CLASS, SQL, base, changed, put, reviewed, set_file, sql

EVIL = "<script>document.title='bad'</script><b id=bad>"
CODE = CodeChange("components/db/component.py", "changed", 1, 1, ("@@ -1 +1 @@", "-a = " + "x" * 200, "+a = 2"))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The page of a change that touches many claims, some of them apart."""
    before = {**base(), **{f"stacks/dev/claims/{i}.yaml": sql(f"sql{i}") for i in range(30)}}
    after = changed(
        put(SQL, "spec/size", 20),
        put(CLASS, "spec/resources/0/base/apiVersion", "azure.crossplane.io/v1beta1"),
        put(CLASS, "spec/resources/0/base/spec/location", EVIL),
        set_file("stacks/dev/claims/more.yaml", sql("more")),
        set_file("stacks/dev/claims/3.yaml", None),
        start=before,
    )
    # Nothing was generated here, which is refused louder than all else.
    stack = replace(reviewed(tmp_path, before, after), refusals=())
    review = Review("shop", "main", "0123456789abcdef", (stack,), (CODE,))
    file = tmp_path / "review.html"
    file.write_text(page(review), encoding="utf-8")
    return file


@pytest.fixture(params=[True, False], ids=["scripts", "no-scripts"])
def opened(request: pytest.FixtureRequest, browser: Browser, written: Path) -> Callable[..., Page]:
    return lambda **how: browser.open(written, scripts=request.param, **how)


def test_a_reader_finds_the_change(opened: Callable[..., Page]) -> None:
    found = opened()
    assert found.texts("h1") == ["Review of shop"]
    assert found.texts(".banner") == ["Destructive changes: 31 dangers in dev"]
    assert "would be lost" in found.texts(".warned li")[0]
    assert found.texts(".risky .badge")
    fields = found.texts(".fields li")
    [changed_size] = [f for f in fields if "spec.forProvider.storageMB" in f]
    assert "10240 → 20480" in changed_size
    assert "patch at components/db/class.yaml" in changed_size
    assert "the claim's spec.size: 10 → 20 at stacks/dev/claims/sql.yaml" in changed_size


def test_a_link_leads_to_the_claim(opened: Callable[..., Page]) -> None:
    found = opened()
    link = found.all(".warned li a")[0]
    wanted = link.get_attribute("href").rpartition("#")[2]
    assert found.in_view == ""
    link.click()
    assert found.address.endswith(f"#{wanted}")
    assert found.in_view == wanted


def test_the_graph_leads_to_the_claims(opened: Callable[..., Page]) -> None:
    found = opened()
    assert found.evaluate("document.querySelector('.graph').checkVisibility()") is False
    found.click(".pictures > summary")
    assert "A → B: A refers to B" in found.texts(".legend")[0]
    assert found.all(".graph .danger")
    links = found.all(".graph svg a")
    assert len(links) == len(found.all("article[id]"))
    wanted = links[0].get_dom_attribute("href")
    links[0].find_element("css selector", "text").click()
    assert found.in_view == wanted.rpartition("#")[2]


def test_details_open_and_close(opened: Callable[..., Page]) -> None:
    found = opened()
    names = "document.querySelector('.claim .names').checkVisibility()"
    assert found.evaluate(names) is False
    found.all("details details > summary")[0].click()
    assert found.evaluate(names) is True


def test_more_of_the_same_can_be_opened(opened: Callable[..., Page]) -> None:
    found = opened()
    [more] = [e for e in found.all(".alerts summary") if e.text == "and 29 more of the same"]
    more.click()
    listed = [name for name in found.texts(".alerts .names li") if name]
    assert len(listed) == 29
    assert all(name.startswith("ResourceGroup default-sql") for name in listed)


def shown(found: Page, css: str) -> int:
    """How many elements are seen."""
    return int(found.evaluate(f"[...document.querySelectorAll('{css}')].filter(e => e.checkVisibility()).length"))


@pytest.mark.parametrize(
    ("filter_by", "option", "seen"),
    [
        pytest.param("by-danger", "dangers only", ".change.endangered", id="danger"),
        pytest.param("by-kind", "MySQLServer", ".change:has([data-kind=MySQLServer])", id="kind"),
        pytest.param("by-stack", "dev", ".e0 .change", id="environment"),
    ],
)
def test_a_reader_filters_the_changes(opened: Callable[..., Page], filter_by: str, option: str, seen: str) -> None:
    found = opened()
    whole = shown(found, ".change")
    [choice] = [o for o in found.all(f"#{filter_by} option") if o.text == option]
    choice.click()
    assert shown(found, ".change") == shown(found, seen) > 0
    assert (shown(found, ".change") == whole) is (filter_by == "by-stack")
    found.all(f"#{filter_by} option")[0].click()
    assert shown(found, ".change") == whole


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_is_printed_whole_and_on_white(opened: Callable[..., Page], dark: bool) -> None:
    found = opened(dark=dark)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    found.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [scheme]})
    assert found.colour("body") == "rgb(255, 255, 255)"
    assert found.colour("body", "color") == "rgb(28, 36, 48)"
    assert shown(found, ".filters") == shown(found, ".pictures") == shown(found, ".jump") == 0
    assert shown(found, ".change .fields > li") == len(found.all(".change .fields > li"))
    assert shown(found, ".alerts > li") == len(found.all(".alerts > li"))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_it_is_readable(opened: Callable[..., Page], dark: bool, width: int) -> None:
    found = opened(dark=dark, width=width)
    assert found.overflow == 0
    light = "rgb(249, 250, 253)"
    assert (found.colour("body") == light) is not dark
    assert found.colour("body", "color") != found.colour("body")
    # The style sheet is the one that the page's policy lets through.
    assert found.evaluate("getComputedStyle(document.querySelector('.op')).minWidth") != "auto"


def test_it_asks_for_nothing_and_runs_nothing(opened: Callable[..., Page], written: Path) -> None:
    found = opened()
    assert found.requests == [written.as_uri()]
    assert found.evaluate("document.title").startswith("Review of shop")
    assert found.all("#bad") == []
    assert found.all("script") == []
