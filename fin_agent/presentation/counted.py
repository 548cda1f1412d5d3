"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """With a plural where there is not one.

    >>> counted(1, "filing"), counted(1200, "filing"), counted(2, "company")
    ('1 filing', '1,200 filings', '2 companies')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"
