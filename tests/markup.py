"""A hundred texts that would be markup, a script or an address if anything took them for such."""

from __future__ import annotations

_PIECES = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=javascript:alert(1)>x</a>",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content=0>",
    "<form action=https://x.example><input name=t>",
    "&lt;b&gt;&#60;i&#62;",
    "<!--><base href=//x.example>",
)
_AROUND = (
    "{}",
    "Net income {}",
    "{} and subsidiaries",
    "</td></tr></table>{}",
    "</title>{}",
    "</pre></textarea></style>{}",
    "\"'>{}",
    "`${{1}}`{}",
    "]]>{}",
    "\u202e{}\u0000",
)
HOSTILE_MARKUP = tuple(around.replace("{{1}}", "{1}").replace("{}", piece) for around in _AROUND for piece in _PIECES)
