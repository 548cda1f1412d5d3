"""Filings as MCP resources: each filing at a glance, and each of its pages as text."""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote, unquote

import mcp_types as types

from fin_agent.prompts.material import as_quoted, on_a_line
from fin_agent.serving.errors import NotThereError
from fin_agent.serving.filings import filing_shown, page_of, record_of
from fin_agent.tools.arguments import Narrowed, ReadPageArguments
from fin_agent.tools.artifacts import FilingListed
from fin_agent.tools.context import ToolContext
from fin_agent.tools.operations import all_filings, pages_read
from fin_agent.tools.wording import Budget, Part, pages_read_told

SCHEME = "filings"
LISTED_AT_ONCE = 100
_ADDRESS = re.compile(rf"{SCHEME}://(?P<doc_id>[^/?#]+)(?:/pages/(?P<page>\d{{1,6}}))?/?")


class FilingResources:
    """The filings of a context, as clients list and read them."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    def listed(self, cursor: str | None) -> types.ListResourcesResult:
        """A hundred filings, by company and time, from `cursor` on. Raises NotThereError where that is none of ours."""
        start = _position(cursor)
        filings = all_filings(self._context, Narrowed()).filings
        end = start + LISTED_AT_ONCE
        return types.ListResourcesResult(
            resources=[_resource(filing) for filing in filings[start:end]],
            next_cursor=_cursor(end) if end < len(filings) else None,
        )

    def templates(self) -> types.ListResourceTemplatesResult:
        """How the addresses of filings and pages are made."""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name="filing",
                    title="A filing at a glance",
                    uri_template=f"{SCHEME}://{{doc_id}}",
                    description="Who, what and when a filing is, and which Items, statements and notes stand where.",
                    mime_type="text/plain",
                ),
                types.ResourceTemplate(
                    name="page",
                    title="A page as text",
                    uri_template=f"{SCHEME}://{{doc_id}}/pages/{{page}}",
                    description="The text of a page of a filing; pages count from 1.",
                    mime_type="text/plain",
                ),
            ]
        )

    def read(self, uri: str) -> types.ReadResourceResult:
        """What stands at an address, quoted as data. Raises NotThereError."""
        found = _ADDRESS.fullmatch(uri)
        if found is None:
            raise NotThereError(
                "there is no such resource",
                subject=uri[:200],
                remedy=f"Addresses are {SCHEME}://DOC_ID and {SCHEME}://DOC_ID/pages/N, pages counted from 1",
            )
        doc_id = unquote(found["doc_id"])
        text = self._filing(doc_id) if found["page"] is None else self._page(doc_id, int(found["page"]))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
        )

    def _page(self, doc_id: str, page_number: int) -> str:
        page_of(record_of(self._context, doc_id), page_number)
        return pages_read_told(
            pages_read(self._context, ReadPageArguments(doc_id=doc_id, pages=str(page_number))), self._budget
        )

    def _filing(self, doc_id: str) -> str:
        filing = filing_shown(self._context, doc_id)
        lines = [filing.described]
        for title, parts in (("statement", filing.statements), ("Item", filing.items), ("note", filing.notes)):
            lines += [f"{title} {part.name}: pages {part.first_page_number}-{part.last_page_number}" for part in parts]
        told = [Part("\n".join(lines), filing.doc_id, "filing")]
        return self._budget.told(f"A filing of {filing.pages} pages, {filing.facts} figures read.", told, seed=doc_id)

    @property
    def _budget(self) -> Budget:
        return Budget(self._context.max_tokens, self._context.counter)


def _resource(filing: FilingListed) -> types.Resource:
    return types.Resource(
        uri=f"{SCHEME}://{quote(filing.doc_id, safe='')}",
        name=filing.doc_id,
        title=on_a_line(as_quoted(filing.described)),
        description=f"{filing.pages} pages; {SCHEME}://{quote(filing.doc_id, safe='')}/pages/N is the text of one.",
        mime_type="text/plain",
    )


def _cursor(position: int) -> str:
    return base64.urlsafe_b64encode(str(position).encode()).decode()


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        given = base64.urlsafe_b64decode(cursor.encode()).decode("ascii")
    except (binascii.Error, ValueError):
        given = ""
    if not given.isdigit() or len(given) > 9:
        raise NotThereError("no list goes on there", subject=cursor[:40], remedy="Begin without a cursor")
    return int(given)
