"""Pages in JSON: from 0 as everywhere, and beside that from 1."""

from __future__ import annotations

from fin_agent.serving.filing_resources import with_page_numbers


def test_every_page_gets_its_number_and_picture_however_deep() -> None:
    document = {"ledger": [{"figure": {"doc_id": "a", "page": 0, "box": [1.0, 2.5, 3.0, 4.0]}}, {"figure": None}]}
    told = with_page_numbers(document, pictures=True)
    assert told == {
        "ledger": [
            {
                "figure": {
                    "doc_id": "a",
                    "page": 0,
                    "box": [1.0, 2.5, 3.0, 4.0],
                    "page_number": 1,
                    "picture": "/pages/a/1.png?box=1,2.5,3,4",
                }
            },
            {"figure": None},
        ]
    }


def test_an_id_stays_one_part_of_an_address() -> None:
    told = with_page_numbers({"doc_id": "../a b?c#d%", "page": 1}, pictures=True)
    assert isinstance(told, dict)
    assert told["picture"] == "/pages/..%2Fa%20b%3Fc%23d%25/2.png"


def test_pages_that_are_none_get_nothing() -> None:
    assert with_page_numbers({"page": None, "doc_id": "a"}, pictures=True) == {"page": None, "doc_id": "a"}
