"""EDGAR as far as this project asks it, on this machine: lists, submissions, archives, and the ways it fails."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTACT = "Jane Doe jane@example.com"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    at: float
    path: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class Mishap:
    """What happens instead of an answer, once."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_at: int | None = None
    """Bytes of the body after which the connection ends."""


@dataclass(slots=True)
class EdgarServer:
    """Files by their paths, and the requests that came for them."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    mishaps: dict[str, list[Mishap]] = field(default_factory=dict)
    """By the end of a path: what happens to the next requests for it."""
    asked: list[Asked] = field(default_factory=list)
    packs: bool = True
    """Whether answers are packed with gzip where that is asked for."""

    def paths(self) -> list[str]:
        return [each.path for each in self.asked]

    def put_company(
        self, cik: int, ticker: str, name: str, filings: Sequence[Mapping[str, str]], **said: object
    ) -> None:
        """List a company with its filings (`form`, `filed`, `period`, `document`, `accession`), and put their files."""
        tickers = json.loads(self.files.get("/files/company_tickers.json", b"{}"))
        tickers[str(len(tickers))] = {"cik_str": cik, "ticker": ticker, "title": name}
        self.files["/files/company_tickers.json"] = json.dumps(tickers).encode()
        submissions: dict[str, object] = {
            "cik": str(cik),
            "name": name,
            "tickers": [ticker],
            "fiscalYearEnd": "0928",
            "filings": {"recent": columns(filings), "files": []},
        }
        submissions.update(said)
        self.files[f"/submissions/CIK{cik:010d}.json"] = json.dumps(submissions).encode()
        for filing in filings:
            folder = f"/Archives/edgar/data/{cik}/{filing['accession'].replace('-', '')}"
            self.files.setdefault(f"{folder}/{filing['document']}", document_of(filing))

    def put_older(self, cik: int, filings: Sequence[Mapping[str, str]], *, name: str = "", until: str) -> None:
        """A further list of older filings of a company."""
        file = name or f"CIK{cik:010d}-submissions-001.json"
        path = f"/submissions/CIK{cik:010d}.json"
        listed = json.loads(self.files[path])
        listed["filings"]["files"].append({"name": file, "filingCount": len(filings), "filingTo": until})
        self.files[path] = json.dumps(listed).encode()
        self.files[f"/submissions/{file}"] = json.dumps(columns(filings)).encode()
        for filing in filings:
            folder = f"/Archives/edgar/data/{cik}/{filing['accession'].replace('-', '')}"
            self.files[f"{folder}/{filing['document']}"] = document_of(filing)


def filing(number: int, form: str, period: str, filed: str, document: str = "") -> dict[str, str]:
    """A row of a list."""
    return {
        "accession": f"0000320193-{filed[2:4]}-{number:06d}",
        "form": form,
        "filed": filed,
        "period": period,
        "document": document or f"report-{number}.htm",
    }


def columns(filings: Sequence[Mapping[str, str]]) -> dict[str, list[str] | list[int]]:
    return {
        "accessionNumber": [filing["accession"] for filing in filings],
        "filingDate": [filing["filed"] for filing in filings],
        "reportDate": [filing["period"] for filing in filings],
        "form": [filing["form"] for filing in filings],
        "primaryDocument": [filing["document"] for filing in filings],
        **({"size": [int(filing["size"]) for filing in filings]} if all("size" in each for each in filings) else {}),
    }


BLOCKED = (
    b"<html><head><title>SEC.gov | Request Rate Threshold Exceeded</title></head><body><h1>Your Request Originates from"
    b" an Undeclared Automated Tool</h1><p>U.S. Securities and Exchange Commission</p></body></html>"
)
"""A page in place of what was asked for, as EDGAR words it."""
LOGIN = b"<!doctype html><html><head><title>Welcome to our Wi-Fi</title></head><body>Accept our terms</body></html>"


def document_of(filing: Mapping[str, str]) -> bytes:
    """Some two hundred kilobytes that hardly pack."""
    import random

    noise = random.Random(filing["accession"]).randbytes(100_000).hex()
    return f"<html><body><p>{filing['form']} {filing['period']}</p><p>{noise}</p></body></html>".encode()


@contextmanager
def running() -> Iterator[EdgarServer]:
    """The server, while the block runs."""
    edgar = EdgarServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            edgar.asked.append(Asked(time.time(), self.path, dict(self.headers)))
            mishap = next(
                (waiting.pop(0) for end, waiting in edgar.mishaps.items() if self.path.endswith(end) and waiting), None
            )
            if mishap is not None and mishap.status is not None:
                self._answer(mishap.status, b"<html>Request Rate Threshold Exceeded</html>", mishap.headers)
            elif (content := edgar.files.get(self.path)) is None:
                self._answer(404, b"not here", {})
            else:
                self._file(content, mishap)

        def _file(self, content: bytes, mishap: Mishap | None) -> None:
            headers: dict[str, str] = {}
            if edgar.packs and "gzip" in self.headers.get("Accept-Encoding", ""):
                content = gzip.compress(content, mtime=0)
                headers["Content-Encoding"] = "gzip"
            headers["ETag"] = f'"{hash(content):x}"'
            if self.headers.get("If-None-Match") == headers["ETag"]:
                self._answer(304, b"", headers)
                return
            self._answer(200, content, headers, mishap.cut_at if mishap else None)

        def _answer(self, status: int, body: bytes, headers: Mapping[str, str], cut_at: int | None = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if cut_at is None else body[:cut_at])
            if cut_at is not None:
                self.wfile.flush()
                self.close_connection = True

        def log_message(self, format: str, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    edgar.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield edgar
    finally:
        server.shutdown()
        server.server_close()
