"""A server of a test's own, which can be stopped and started again and whose log can be read."""

import json
import os
import re
import signal
import subprocess

BINARY = os.environ.get("FREEBOARD_BINARY")
STOP_TIMEOUT_S = 20


class Server:
    def __init__(self, data, log=subprocess.DEVNULL, options=()):
        arguments = ["serve", "--data", data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(
            [BINARY, *arguments], stdout=subprocess.PIPE, stderr=log, text=True
        )
        self.uri = "mongodb://" + re.search(r"listening on (\S+)", self.process.stdout.readline()).group(1)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(STOP_TIMEOUT_S)
        self.process.stdout.close()


def lines(path):
    """The lines of a log, each a JSON object of its own."""
    return [json.loads(line) for line in path.read_text().splitlines()]
