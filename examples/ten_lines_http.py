"""The HTTP API from any program, in ten lines (extra `serve`)."""

import json
import subprocess
from typing import Any
from urllib.request import Request, urlopen

command = ["fin-agent", "serve", "--port", "0", "--index", "my-index"]
server: Any
with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
    at = server.stderr.readline().split("serving at ")[1].split(",")[0]
    body = json.dumps({"question": "What was Harborlight's net income in FY2023?"}).encode()
    with urlopen(Request(f"{at}/ask", body, {"Content-Type": "application/json"})) as reply:
        print(json.load(reply)["answer"]["text"])
    server.terminate()
