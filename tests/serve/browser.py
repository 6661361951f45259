"""Chromium, driven over a pipe by its DevTools protocol: pages that go on loading can be seen."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One page at a time."""

    def __enter__(self):
        self.profile = tempfile.mkdtemp()
        read, self.write = os.pipe()
        self.read, write = os.pipe()
        arguments = ("--headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                     f"--user-data-dir={self.profile} --remote-debugging-pipe")  # fmt: skip
        self.process = subprocess.Popen(
            ["bash", "-c", f"exec {CHROMIUM} {arguments} 3<&{read} 4>&{write}"],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self.rest, self.number, self.session, self.errors = b"", 0, None, []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(own["targetId"] for own in targets if own["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        self.call("Page.enable")
        self.call("Runtime.enable")
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                piece = os.read(self.read, 1 << 16)
                assert piece, "the browser ended"
                self.rest += piece
            content, self.rest = self.rest.split(b"\0", 1)
            found = json.loads(content)
            if found.get("method") == "Runtime.exceptionThrown":
                self.errors.append(found["params"]["exceptionDetails"])
            if found.get("id") == self.number:
                assert "error" not in found, found
                return found["result"]

    def open(self, url, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        self.call("Page.navigate", url=url)

    def ask(self, expression):
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    def wait(self, expression, seconds=30):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.ask(expression):
            assert time.monotonic() < end, f"{expression}: {self.ask('document.body.innerText')}"
            time.sleep(0.1)

    def shot(self, path):
        """A picture of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(found["data"]))
