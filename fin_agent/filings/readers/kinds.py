"""What a file holds by its first bytes, whatever it is named."""

from __future__ import annotations

import re

HTML_HEAD = 65_536
"""Bytes within which HTML shows."""
_PDF_HEAD = 1024
"""Readers accept a PDF header anywhere in the first 1,024 bytes (PDF reference 1.7, appendix H, note 13)."""
_HTML = re.compile(rb"<\s*(?:!doctype\s+html|html|head|body|div|table|p|font|pre|h\d|span|ix:)\b", re.I)


def is_pdf(content: bytes) -> bool:
    """Whether a file that begins so is a PDF by its own header."""
    return b"%PDF-" in content[:_PDF_HEAD]


def is_html(content: bytes) -> bool:
    """Whether an element of HTML stands near the beginning."""
    return _HTML.search(content, 0, HTML_HEAD) is not None
