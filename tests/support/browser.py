"""A real browser for tests: Debian's chromium, headless, driven by its own driver.

`Browser.open` shows a file or an HTML text with scripts on or off, in light or dark, at a width; the `Page` that it
gives finds what a reader would see. Where there is no chromium, tests are skipped with a reason; in CI (`CI=true`) that
is a failure, unless `CLAIMSMITH_NO_BROWSER` says that there can be none.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

PHONE, DESK = 390, 1280
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)  # fmt: skip
FIX = "run scripts/browser.sh, or install Debian's packages chromium and chromium-driver"


def programs() -> tuple[str, str] | None:
    """Browser and driver, where both are there."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def require() -> tuple[str, str]:
    """Browser and driver; the test is skipped without them, and fails in CI."""
    found = programs()
    if found:
        return found
    if os.environ.get("CI") and not os.environ.get("CLAIMSMITH_NO_BROWSER"):
        pytest.fail(f"there is no chromium, and this is CI: {FIX}")
    pytest.skip(f"there is no chromium: {FIX}")


@dataclass
class Page:
    """What the browser shows."""

    driver: Any

    def all(self, css: str) -> list[Any]:
        """The elements that a selector finds."""
        return list(self.driver.find_elements("css selector", css))

    def one(self, css: str) -> Any:
        """The only element that a selector finds."""
        (found,) = self.all(css)
        return found

    def texts(self, css: str) -> list[str]:
        """The words of each element that a selector finds, as they are seen."""
        return [e.text for e in self.all(css)]

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; works with the page's own scripts off, too."""
        result = self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def click(self, css: str) -> None:
        """Click the only element that a selector finds, in the middle of what is seen of it."""
        self.one(css).click()

    @property
    def address(self) -> str:
        """Where the browser is, with the place in the page."""
        return str(self.evaluate("location.href"))

    @property
    def in_view(self) -> str:
        """The id of what the place in the address names, where it is seen now; empty where it is not."""
        return str(
            self.evaluate(
                "(() => {const e = document.querySelector(':target'); if (!e) return '';"
                "const r = e.getBoundingClientRect();"
                "return r.bottom > 0 && r.top < innerHeight && r.height > 0 ? e.id : ''})()"
            )
        )

    @property
    def overflow(self) -> int:
        """By how many pixels the page is broader than the window: 0 where nobody must scroll sideways."""
        return int(self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def colour(self, css: str, name: str = "background-color") -> str:
        """A computed colour of the first element that a selector finds."""
        return str(
            self.evaluate(
                f"getComputedStyle(document.querySelector({json.dumps(css)})).getPropertyValue({json.dumps(name)})"
            )
        )

    @cached_property
    def requests(self) -> list[str]:
        """The addresses that the page asked for, its own first."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path: Path) -> Path:
        """A picture of the whole page."""
        import base64

        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path


class Browser:
    """One chromium, as long as a test process lives."""

    def __init__(self, profile: Path) -> None:
        from selenium.webdriver import Chrome, ChromeOptions, ChromeService

        program, driver = require()
        options = ChromeOptions()
        options.binary_location = program
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
        self.profile = profile
        self.pages = 0
        self.driver = Chrome(options=options, service=ChromeService(driver))

    def open(
        self, page: Path | str, *, scripts: bool = True, dark: bool = False, width: int = DESK, height: int = 900
    ) -> Page:
        """Show a file, an address, or an HTML text."""
        command = self.driver.execute_cdp_cmd
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        command("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        command("Emulation.setEmulatedMedia", {"features": [scheme]})
        phone = width < 600
        metrics = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
        command("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get(self._address(page))
        return Page(self.driver)

    def _address(self, page: Path | str) -> str:
        if isinstance(page, str) and "<" not in page:
            return page
        if isinstance(page, str):
            self.pages += 1
            path = self.profile / f"page-{self.pages}.html"
            path.write_text(page, encoding="utf-8")
            page = path
        return page.resolve().as_uri()

    def close(self) -> None:
        """End the browser and its driver."""
        self.driver.quit()
