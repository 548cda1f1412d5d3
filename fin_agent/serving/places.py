"""Pages in JSON: `page` counts from 0, as in every JSON of ours; beside it stands what people and addresses go by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias
from urllib.parse import quote

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

PAGE_NUMBER = "As a viewer counts pages, from 1."
PICTURE = "Address of a picture of the page; what stands at `box` is framed on it."


def with_page_numbers(document: Json, *, pictures: bool = False) -> Json:
    """The document with `page_number` (from 1) beside every `page` (from 0) and, on request, the page's `picture`.

    >>> with_page_numbers({"doc_id": "acme_2023", "page": 8}, pictures=True)
    {'doc_id': 'acme_2023', 'page': 8, 'page_number': 9, 'picture': '/pages/acme_2023/9.png'}
    """
    if isinstance(document, list):
        return [with_page_numbers(each, pictures=pictures) for each in document]
    if not isinstance(document, dict):
        return document
    told = {name: with_page_numbers(value, pictures=pictures) for name, value in document.items()}
    page = document.get("page")
    if isinstance(page, int):
        told["page_number"] = page + 1
        doc_id = _doc_id(document)
        if pictures and doc_id is not None:
            told["picture"] = picture_address(doc_id, page + 1, document.get("box"))
    return told


def schemas_with_page_numbers(schemas: Mapping[str, Json], *, pictures: bool = False) -> dict[str, Json]:
    """What `with_page_numbers` does to documents, done to the schemas of their types."""
    return {name: _described(schema, pictures) for name, schema in schemas.items()}


def picture_address(doc_id: str, page_number: int, box: Json = None) -> str:
    """Where the HTTP API has the picture of a page (from 1), with a box framed where one is given.

    >>> picture_address("acme 2023", 9, [72.0, 90.5, 300.0, 101.0])
    '/pages/acme%202023/9.png?box=72,90.5,300,101'
    """
    address = f"/pages/{quote(doc_id, safe='')}/{page_number}.png"
    if not isinstance(box, list):
        return address
    return f"{address}?box={','.join(f'{side:.6g}' for side in box if isinstance(side, int | float))}"


def _doc_id(document: Mapping[str, Json]) -> str | None:
    filing = document.get("filing")
    doc_id = document.get("doc_id", filing.get("doc_id") if isinstance(filing, dict) else None)
    return doc_id if isinstance(doc_id, str) else None


def _described(schema: Json, pictures: bool) -> Json:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(properties, dict) or "page" not in properties:
        return schema
    added: dict[str, Json] = {"page_number": {"type": "integer", "minimum": 1, "description": PAGE_NUMBER}}
    if pictures and ("doc_id" in properties or "filing" in properties):
        added["picture"] = {"type": "string", "description": PICTURE}
    return {**schema, "properties": {**properties, **added}}
