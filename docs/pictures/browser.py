"""Takes a picture of a page with headless Chromium, through the pipe of its DevTools protocol."""

import base64
import fcntl
import json
import os
import subprocess
import tempfile

# The answers of Chromium are lines that end with this.
END = b"\0"


class Browser:
    """A running Chromium with one page of a size in pixels."""

    def __init__(self, program, width, height):
        self.folder = tempfile.TemporaryDirectory()
        to_browser, self.requests = os.pipe()
        self.answers, from_browser = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}"]
        command = [program, *flags, f"--window-size={width},{height}", "about:blank"]

        def connect():
            """The protocol is on the descriptors 3 and 4."""
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser, from_browser)]
            for number, end in enumerate(ends, 3):
                os.dup2(end, number)

        self.process = subprocess.Popen(command, preexec_fn=connect, pass_fds=(3, 4), stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.number, self.events, self.session = b"", 0, [], None
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.send("Page.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.requests)
        os.close(self.answers)
        self.folder.cleanup()

    def message(self):
        while END not in self.rest:
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise OSError("Chromium has ended")
            self.rest += data
        message, self.rest = self.rest.split(END, 1)
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + END)
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message.get("method"))

    def open(self, address):
        self.events.clear()
        self.send("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.message().get("method"))

    def run(self, script):
        """The value of an expression; of a promise, what it gives."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise OSError(f"the page reports: {result['exceptionDetails']['text']}")
        return result["result"].get("value")

    def set_media(self, **features):
        """For instance `prefers_color_scheme="dark"`."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", features=listed)

    def picture(self, width=None, height=None):
        """A PNG of what is in the window, or of so much of it."""
        clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}} if width else {}
        return base64.b64decode(self.send("Page.captureScreenshot", format="png", **clip)["data"])
