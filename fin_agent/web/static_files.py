"""The static files of the workspace, which load nothing from other hosts and send nothing to them."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles

from fin_agent.lexicon.words import load_yaml

FOLDER = Path(str(resources.files("fin_agent.web") / "static"))
OPEN_PATHS = ("/", "/docs", "/static/*")
"""Paths that need no token: they contain nothing of filings, and ask the user for the token."""
HEADERS: dict[str, str] = load_yaml("headers", __package__)


class _Files(StaticFiles):  # type: ignore[misc]
    def file_response(self, *given: Any, **named: Any) -> Response:
        response = super().file_response(*given, **named)
        response.headers.update(HEADERS)
        return response


def plain_name(name: str) -> str:
    """Return a file name without characters that have a meaning for a system or a browser."""
    return _UNSAFE.sub("_", name)


_UNSAFE = re.compile(r"[^\w.()&, -]+")


def serve_files(app: FastAPI) -> None:
    """Serve the workspace at `/`, the description of the API at `/docs`, and scripts and styles below `/static`."""
    app.mount("/static", _Files(directory=FOLDER), name="static")

    def page(name: str) -> Any:
        async def shown() -> Response:
            return FileResponse(FOLDER / name, headers=HEADERS)

        return shown

    app.get("/", include_in_schema=False)(page("index.html"))
    app.get("/docs", include_in_schema=False)(page("docs.html"))
