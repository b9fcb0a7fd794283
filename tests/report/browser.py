"""A headless Chromium, driven by the DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tornado.websocket import WebSocketClientConnection, websocket_connect

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

PROGRAM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser",
                                                      "google-chrome"))), None)  # fmt: skip
_PATIENCE: Final = 60.0
_NOTICED: Final = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                   "Network.requestWillBeSent")  # fmt: skip


class Browser:
    """One page; a context manager.

    Attributes:
        noticed: messages of the console, errors and requests since the page was opened.
    """

    def __init__(self) -> None:
        self.noticed: list[dict[str, Any]] = []
        self._loop = asyncio.new_event_loop()
        self._profile = Path(tempfile.mkdtemp(prefix="kafkalog-chromium-"))
        self._calls = 0

    def __enter__(self) -> Self:
        assert PROGRAM is not None, "no chromium on this machine (Debian: chromium)"
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._process = subprocess.Popen(
            [PROGRAM, "--headless=new", *sandbox, "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--remote-debugging-port=0",
             f"--user-data-dir={self._profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._socket: WebSocketClientConnection = self._loop.run_until_complete(
            asyncio.wait_for(self._connected(), _PATIENCE)
        )
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.run_until_complete(self._disconnected())
        self._process.terminate()
        self._process.wait(_PATIENCE)
        self._loop.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    async def _connected(self) -> WebSocketClientConnection:
        port = self._profile / "DevToolsActivePort"
        while not port.exists() or "\n" not in port.read_text():
            assert self._process.poll() is None, "chromium ended at once"
            await asyncio.sleep(0.05)
        address = f"http://127.0.0.1:{port.read_text().split()[0]}/json/list"
        with urllib.request.urlopen(address) as answer:
            targets = json.load(answer)
        (url,) = (each["webSocketDebuggerUrl"] for each in targets if each["type"] == "page")
        return await websocket_connect(url, max_message_size=1 << 28)

    async def _disconnected(self) -> None:
        """Inside of the loop: tornado would make another one, and leave it open."""
        self._socket.close()

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        return self._loop.run_until_complete(
            asyncio.wait_for(self._call(method, parameters), _PATIENCE)
        )

    async def _call(self, method: str, parameters: dict[str, object]) -> dict[str, Any]:
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": parameters}
        await self._socket.write_message(json.dumps(message))
        while True:
            text = await self._socket.read_message()
            assert text is not None, "chromium closed the connection"
            answer: dict[str, Any] = json.loads(text)
            if answer.get("id") == self._calls:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            if answer.get("method") in _NOTICED:
                self.noticed.append(answer)

    def open(self, page: Path) -> None:
        """Open a file, and wait until its script is done."""
        self.noticed.clear()
        self.call("Page.navigate", url=page.as_uri())
        self.wait_for("document.documentElement?.dataset.ready === 'yes'")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        self.evaluate(
            f"new Promise(done => {{const look = () => ({condition}) ? done(1) : "
            "setTimeout(look, 20); look();})"
        )

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        done = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def screen(self, *, width: int, height: int = 900, scheme: str = "light") -> None:
        """Set the size of the window and the colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])  # fmt: skip

    def key(self, key: str) -> None:
        """Press a key."""
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self) -> bytes:
        """A PNG of the window."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    @property
    def requests(self) -> list[str]:
        """The URLs that the page requested, its own first."""
        return [
            each["params"]["request"]["url"]
            for each in self.noticed
            if each["method"] == "Network.requestWillBeSent"
        ]

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """Errors, and whatever was written to the console."""
        return [each for each in self.noticed if each["method"] != "Network.requestWillBeSent"]
