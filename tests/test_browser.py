"""The browser does what tests ask of it: scripts on and off, light and dark, a phone's width, no network."""

from __future__ import annotations

import pytest

from tests import browser as browsers
from tests.browser import DESK, PHONE, Browser

PAGE = """<!doctype html><meta name=viewport content="width=device-width"><style>
body{background:rgb(255, 255, 255)} @media (prefers-color-scheme:dark){body{background:rgb(1, 2, 3)}}
</style><p id=said>no script</p><a href="#far">far</a><script>said.textContent = "script"</script>
<img src="https://example.org/x.png"><div style="height:3000px"></div><h2 id=far>Far</h2>"""


@pytest.mark.parametrize(("scripts", "said"), [(True, "script"), (False, "no script")], ids=["scripts", "no-scripts"])
@pytest.mark.parametrize(
    ("dark", "colour"), [(False, "rgb(255, 255, 255)"), (True, "rgb(1, 2, 3)")], ids=["light", "dark"]
)
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_a_page_is_shown_as_asked(
    browser: Browser, scripts: bool, said: str, dark: bool, colour: str, width: int
) -> None:
    page = browser.open(PAGE, scripts=scripts, dark=dark, width=width)
    assert page.texts("#said") == [said]
    assert page.colour("body") == colour
    assert page.evaluate("innerWidth") == width


def test_a_link_is_followed_without_scripts(browser: Browser) -> None:
    page = browser.open(PAGE, scripts=False)
    assert page.in_view == ""
    page.click("a")
    assert page.address.endswith("#far")
    assert page.in_view == "far"


def test_requests_are_seen(browser: Browser) -> None:
    own, *others = browser.open(PAGE).requests
    assert own.startswith("file://")
    assert others == ["https://example.org/x.png"]


@pytest.mark.parametrize(
    ("environment", "outcome"),
    [
        pytest.param({}, pytest.skip.Exception, id="skipped-at-home"),
        pytest.param({"CI": "true"}, pytest.fail.Exception, id="failed-in-ci"),
        pytest.param(
            {"CI": "true", "CLAIMSMITH_NO_BROWSER": "1"}, pytest.skip.Exception, id="skipped-where-ci-says-so"
        ),
    ],
)
def test_a_missing_browser(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("PATH", "")
    for name in ("CI", "CLAIMSMITH_NO_BROWSER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(outcome, match="chromium"):
        browsers.require()
