"""The files of the workspace, as a server hands them out: nothing of them comes from another host, or goes to one."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles

FOLDER = Path(str(resources.files("fin_agent.web") / "static"))
OPEN_PATHS = ("/", "/docs", "/static/*")
"""Paths that need no token: they hold nothing of filings, and ask for the token."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
}
"""Scripts run from these files only, and none can make markup of a text."""


class _Files(StaticFiles):  # type: ignore[misc]
    def file_response(self, *given: Any, **named: Any) -> Response:
        response = super().file_response(*given, **named)
        response.headers.update(HEADERS)
        return response


def plain_name(name: str) -> str:
    """The name of a file, without what a system or a browser takes for anything else."""
    return _UNSAFE.sub("_", name)


_UNSAFE = re.compile(r"[^\w.()&, -]+")


def serve_files(app: FastAPI) -> None:
    """The workspace at `/`, what describes the API at `/docs`, scripts and styles below `/static`."""
    app.mount("/static", _Files(directory=FOLDER), name="static")

    def page(name: str) -> Any:
        async def shown() -> Response:
            return FileResponse(FOLDER / name, headers=HEADERS)

        return shown

    app.get("/", include_in_schema=False)(page("index.html"))
    app.get("/docs", include_in_schema=False)(page("docs.html"))
