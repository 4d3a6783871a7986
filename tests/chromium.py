"""Debian's chromium without a window, spoken to over a pipe in the DevTools protocol: no driver, no port, no library.

`Chromium` is the browser, `Tab` a page of it. A call waits for its answer; what the browser tells meanwhile (requests,
console, dialogs) is kept by the tab that it belongs to.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path
from typing import Any, Self

PATIENCE = 60.0
"""Seconds until a browser that does not answer is given up: far more than any answer takes."""

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-extensions", "--mute-audio", "--hide-scrollbars", "--force-color-profile=srgb", "--lang=en-US",
    # whatever a page might ask for elsewhere is nowhere to be found
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)  # fmt: skip

KEYS = {
    "Tab": (9, None), "Enter": (13, "\r"), "ArrowLeft": (37, None), "ArrowRight": (39, None), "Home": (36, None),
    "End": (35, None), "ArrowDown": (40, None), "Escape": (27, None),
}  # fmt: skip


def find_chromium() -> str | None:
    """Where the browser is, if it is there."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class BrowserError(Exception):
    """The browser refused a command, or a script in a page failed."""


class Chromium:
    """A browser with a profile of its own in `folder`."""

    def __init__(self, folder: Path) -> None:
        program = find_chromium()
        if program is None:
            raise BrowserError("there is no chromium on this machine")
        folder.mkdir(parents=True, exist_ok=True)
        log = os.open(folder / "chromium.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        hears, self._say = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in _pipe())
        self._hear, says = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in _pipe())
        redirect = [(os.POSIX_SPAWN_DUP2, end, place) for end, place in ((log, 1), (log, 2), (hears, 3), (says, 4))]
        arguments = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        self._process = os.posix_spawn(program, arguments, os.environ, file_actions=redirect, setpgroup=0)
        for end in (log, hears, says):
            os.close(end)
        self._rest = b""
        self._number = 0
        self._tabs: dict[str, Tab] = {}
        self.version = str(self.call("Browser.getVersion")["product"])

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Say a command and wait for its answer."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        content = memoryview(json.dumps(message).encode() + b"\0")
        while content:
            content = content[os.write(self._say, content) :]
        while True:
            told = self.next_message(f"an answer to {method}")
            if told.get("id") == number:
                if "error" in told:
                    raise BrowserError(f"{method}: {told['error']}")
                return dict(told["result"])

    def next_message(self, wanted: str) -> dict[str, Any]:
        """The next thing that the browser says; an event is also kept by its tab."""
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            if not select.select([self._hear], [], [], max(until - time.monotonic(), 0))[0]:
                raise BrowserError(f"no {wanted} within {PATIENCE:.0f} s")
            read = os.read(self._hear, 1 << 20)
            if not read:
                raise BrowserError(f"the browser ended, without {wanted}")
            self._rest += read
        content, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(content)
        if "method" in told and (tab := self._tabs.get(told.get("sessionId", ""))):
            tab.hear(told["method"], told["params"])
        return told

    def open_tab(self) -> Tab:
        """A new empty page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = str(self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        tab = self._tabs[session] = Tab(self, target, session)
        tab.begin()
        return tab

    def forget(self, session: str) -> None:
        """A tab that is closed hears nothing."""
        self._tabs.pop(session, None)

    def close(self) -> None:
        """End the browser and all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._say)
        os.close(self._hear)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pipe() -> tuple[int, int]:
    return os.pipe()


class Tab:
    """A page: where it is, what it asked for, what it complained about."""

    def __init__(self, browser: Chromium, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._seen: set[tuple[str, str]] = set()

    def begin(self) -> None:
        """Ask to be told everything."""
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def hear(self, method: str, told: dict[str, Any]) -> None:
        """Keep what happened."""
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Network.loadingFailed":
            self.complaints.append(f"a request failed: {told['errorText']}")
        elif method == "Network.responseReceived" and told["response"]["status"] >= 400:
            self.complaints.append(f"{told['response']['status']} for {told['response']['url']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"].get("exception", told["exceptionDetails"])))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{told['type']}: {told['args']}")
        elif method == "Log.entryAdded":
            self.complaints.append(f"{told['entry']['source']}: {told['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"a dialog: {told['message']}")
        elif method == "Page.lifecycleEvent":
            self._seen.add((told["loaderId"], told["name"]))

    def go(self, address: str, idle: bool = False, leads_on: bool = False) -> None:
        """Open an address and wait until it, and all that it loads, is there; `idle`: and until nothing more is asked for.

        With `leads_on` another page takes its place before it is there: nothing is waited for.
        """
        self.call("Page.navigate", url="about:blank")  # or another fragment of the same page would be no new page
        self._seen.clear()
        self.requests.clear()
        self.complaints.clear()
        told = self.call("Page.navigate", url=address)
        if "errorText" in told:
            raise BrowserError(f"{address}: {told['errorText']}")
        if leads_on:
            return
        wanted = {(told["loaderId"], event) for event in ("load", *(["networkIdle"] if idle else []))}
        while not wanted <= self._seen:
            self._browser.next_message(f"end of loading {address}")

    def run(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        told = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            raise BrowserError(str(told["exceptionDetails"].get("exception", told["exceptionDetails"])))
        return told["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Ask until an expression is true, on this page or on the one that takes its place meanwhile."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                if self.run(f"Boolean({expression})"):
                    return
            except BrowserError as error:
                if "navigated" not in str(error) and "context" not in str(error):
                    raise
            time.sleep(0.02)
        raise BrowserError(f"never true: {expression}")

    def look(self, width: int = 1280, height: int = 900, scheme: str = "light", media: str = "") -> None:
        """The size of the window in CSS pixels, and light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def scripts(self, allowed: bool) -> None:
        """Whether the page's own scripts run, from the next page on."""
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press and release a key (modifiers: 8 is shift)."""
        code, text = KEYS[key]
        facts = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", **facts, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """mouseMoved, mousePressed or mouseReleased at a place of the window."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, form: str = "png", whole: bool = False, **more: Any) -> bytes:
        """What is to be seen, as a picture; `whole` with what lies below the window."""
        told = self.call("Page.captureScreenshot", format=form, captureBeyondViewport=whole, **more)
        return base64.b64decode(told["data"])

    def print(self) -> bytes:
        """The page as a PDF (A4, as the page's style for print has it)."""
        told = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=False)
        return base64.b64decode(told["data"])

    def close(self) -> None:
        """Close it; what was forbidden to it would be forbidden to the next."""
        self.scripts(True)
        self._browser.forget(self._session)
        self._browser.call("Target.closeTarget", targetId=self._target)
