# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that a test drives.

``scripts/browser`` gets one where there is none. It takes commands through a pipe
(``--remote-debugging-pipe``): those of
https://chromedevtools.github.io/devtools-protocol/ as JSON, each with a zero byte at
the end.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

_UNPACKED: Final = Path(__file__).parents[1] / ".browser" / "usr" / "lib"
_INSTALLED: Final = ("chromium-headless-shell", "chromium", "google-chrome")
_LIBRARIES: Final = ("x86_64-linux-gnu", "x86_64-linux-gnu/pulseaudio")
_KEY_CODES: Final = {"Tab": 9, "Enter": 13}
_COMPLAINTS: Final = (
    "Runtime.consoleAPICalled",
    "Runtime.exceptionThrown",
    "Log.entryAdded",
    "Network.requestWillBeSent",
)


def find_browser() -> str | None:
    """Return the command that starts a browser, None if there is none."""
    unpacked = _UNPACKED / "chromium" / "chromium-headless-shell"
    if unpacked.exists():
        return str(unpacked)
    return next(filter(None, map(shutil.which, _INSTALLED)), None)


@contextmanager
def browse(command: str, profile: Path) -> Iterator[Browser]:
    """Start a browser, and end it."""
    libraries = [str(_UNPACKED / folder) for folder in _LIBRARIES]
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
    # it reads commands from descriptor 3, and answers on 4
    start = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null'
    known = os.environ.get("LD_LIBRARY_PATH")
    process = subprocess.Popen(
        ["bash", "-c", start, command, *options, f"--user-data-dir={profile}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ
        | {"LD_LIBRARY_PATH": ":".join(filter(None, [*libraries, known]))},
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield Browser(process.stdin, process.stdout)
    finally:
        process.kill()
        process.communicate()


class Browser:
    """A browser with one page.

    Attributes:
        complaints: what the page has written to the console, exceptions, and what it
            has wanted from a network.
    """

    def __init__(self, commands: IO[bytes], answers: IO[bytes]) -> None:
        self._commands = commands
        self._answers = answers
        self._unread = b""
        self._count = 0
        self._loaded = 0
        self._session: dict[str, str] = {}
        self.complaints: list[str] = []
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        attached = self.tell("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.tell(f"{domain}.enable")

    def tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Let the browser do something, and return its answer."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        text = json.dumps(message | self._session)
        self._commands.write(text.encode() + b"\0")
        self._commands.flush()
        while (answer := self._receive()).get("id") != self._count:
            pass
        assert "error" not in answer, answer
        return dict(answer["result"])

    def open(self, page: Path) -> None:
        """Open a page of this machine, and wait until it is there."""
        loaded = self._loaded
        self.tell("Page.navigate", url=page.as_uri())
        while self._loaded == loaded:
            self._receive()

    def ask(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript."""
        answer = self.tell(
            "Runtime.evaluate", expression=expression, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def show(self, width: int, height: int, *, dark: bool = False) -> None:
        """Give the page a size in pixels, and light or dark colours."""
        self.tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])

    def press(self, key: str) -> None:
        """Press and release a key."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": _KEY_CODES[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.tell("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.tell("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, x: float, y: float) -> None:
        """Click on a point of what is seen."""
        for kind in ("mousePressed", "mouseReleased"):
            self.tell(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            more = os.read(self._answers.fileno(), 1 << 16)
            assert more, "the browser has ended"
            self._unread += more
        text, _, self._unread = self._unread.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        method = answer.get("method")
        self._loaded += method == "Page.loadEventFired"
        requested = answer.get("params", {}).get("request", {}).get("url", "")
        if method in _COMPLAINTS and not requested.startswith("file:"):
            self.complaints.append(text.decode())
        return answer
