"""The browser does what tests ask of it: scripts on and off, light and dark, a phone's width, no network."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import browser as browsers
from tests.support.browser import DESK, PHONE, Browser
from tests.support.paths import ROOT

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


# what brings the browser

APT = "apt-get install -y -qq --no-install-recommends chromium chromium-driver"


def machine(folder: Path, programs: dict[str, str]) -> dict[str, str]:
    """A PATH with a few programs alone, each a line of shell that notes its call first."""
    bash = shutil.which("bash")
    for name, line in {"env": 'shift; exec "$@"', **programs}.items():
        note = f'echo "${{0##*/}} $*" >> {folder}/called' if name == "apt-get" else ":"
        (folder / name).write_text(f"#!{bash}\n{note}\n{line}\n")
        (folder / name).chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("programs", "called", "said"),
    [
        pytest.param({"chromium": "", "chromedriver": ""}, [], "", id="there-already"),
        pytest.param({}, [], "no chromium and no apt", id="no-apt"),
        pytest.param({"chromium": "", "apt-get": "", "id": "echo 0"}, [APT], "", id="no-driver"),
        pytest.param({"apt-get": "", "id": "echo 0"}, [APT], "", id="root"),
        pytest.param({"apt-get": "", "id": "echo 7"}, [], "sudo apt-get install", id="nobody-to-ask"),
        pytest.param({"apt-get": "", "id": "echo 7", "sudo": "exit 1"}, [], "sudo apt-get install", id="password"),
        pytest.param({"apt-get": "", "id": "echo 7", "sudo": 'shift; "$@"', "true": ""}, [APT], "", id="sudo"),
        pytest.param(
            {"apt-get": '[ -e "$0.updated" ] || { [ "$1" = update ] && : > "$0.updated"; }', "id": "echo 0"},
            [APT, "apt-get update -qq", APT],
            "",
            id="old-lists",
        ),
        pytest.param(
            {"apt-get": "exit 1", "id": "echo 0"},
            [APT, "apt-get update -qq"],
            "could not be installed",
            id="no-network",
        ),
    ],
)
def test_the_script_that_brings_it(tmp_path: Path, programs: dict[str, str], called: list[str], said: str) -> None:
    script = ROOT / "scripts" / "browser.sh"
    environment = machine(tmp_path, programs)
    bash = shutil.which("bash") or "bash"
    ran = subprocess.run([bash, str(script)], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    notes = tmp_path / "called"
    assert (notes.read_text().splitlines() if notes.exists() else []) == called
    assert said in ran.stderr
    assert bool(said) == bool(ran.stderr)
