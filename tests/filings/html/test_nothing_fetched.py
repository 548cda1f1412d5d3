"""HTML is data: nothing that it names is fetched or opened, nothing that it defines is expanded, no script is kept."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_agent import prepare
from fin_agent.errors import ReadError
from tests.loopback import no_other_host

__all__ = ["no_other_host"]

SECRET = "the contents of another file"
SAID = "Net sales were $1,250 million in fiscal 2024."
SCRIPT = "stolen by a script"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that nobody is to connect to."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.setblocking(False)
        yield listening


TYPES = {
    "entity of a file": '<!DOCTYPE html [<!ENTITY x SYSTEM "{file}">]>',
    "entity of an address": '<!DOCTYPE html [<!ENTITY x SYSTEM "{address}/x">]>',
    "public entity": '<!DOCTYPE html [<!ENTITY x PUBLIC "-//X//Y" "{address}/x">]>',
    "parameter entity": '<!DOCTYPE html [<!ENTITY % p SYSTEM "{dtd}"> %p; <!ENTITY y "">]>',
    "parameter entity of an address": '<!DOCTYPE html [<!ENTITY % p SYSTEM "{address}/x.dtd"> %p;]>',
    "document type in a file": '<!DOCTYPE html SYSTEM "{dtd}">',
    "document type at an address": '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "{address}/x.dtd">',
    "style sheet": '<?xml-stylesheet type="text/xsl" href="{address}/x.xsl"?>',
}
ELEMENTS = (
    '<script src="{address}/s.js"></script><script>document.write("' + SCRIPT + '")</script>',
    '<img src="{address}/i.png" onerror="fetch(\'{address}\')"/>',
    '<iframe src="{address}/f"></iframe><object data="{address}/o"><embed src="{address}/e"/></object>',
    '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{file}" parse="text"/>',
    '<link:schemaRef xmlns:link="http://www.xbrl.org/2003/linkbase" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' xlink:type="simple" xlink:href="{address}/x.xsd"/>',
    '<svg xmlns="http://www.w3.org/2000/svg"><script>' + SCRIPT + '</script><image href="{address}/i.svg"/></svg>',
    "<noscript>" + SCRIPT + "</noscript><template><p>" + SCRIPT + "</p></template>",
)
HEAD = (
    '<base href="{address}/"/><link rel="stylesheet" href="{address}/c.css"/>'
    '<meta http-equiv="refresh" content="0; url={address}"/>'
    '<style>@import url("{address}/c.css"); p::after {{ content: "' + SCRIPT + '" }}</style>'
)


@pytest.mark.parametrize("kind", [*TYPES, "none"])
@pytest.mark.parametrize("well_formed", [True, False])
def test_nothing_is_fetched_opened_or_run(
    tmp_path: Path, listener: socket.socket, kind: str, well_formed: bool
) -> None:
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "x.dtd").write_text(f'<!ENTITY x "{SECRET}"><!ATTLIST p title CDATA "{SECRET}">')
    places = {
        "address": f"http://127.0.0.1:{listener.getsockname()[1]}",
        "file": (tmp_path / "secret.txt").as_uri(),
        "dtd": (tmp_path / "x.dtd").as_uri(),
    }
    used = "<p>&x;</p>" if "entity" in kind or "document type" in kind else ""
    body = "".join(ELEMENTS) + f"<p onclick='{SCRIPT}'>{SAID}</p>{used}" + ("" if well_formed else "<br><p>open")
    written = (TYPES.get(kind, "") + f"<html xmlns='http://www.w3.org/1999/xhtml'><head>{HEAD}</head>").format(**places)
    written += f"<body>{body.replace('{address}', places['address']).replace('{file}', places['file'])}</body></html>"
    for name, content in (("f.htm", written.encode()), ("g.htm.gz", gzip.compress(written.encode()))):
        (tmp_path / name).write_bytes(content)
        prepared = prepare(tmp_path / name)
        kept = repr((prepared.filing.pages, prepared.filing.passages, prepared.filing.tables, prepared.cards))
        assert SAID in kept
        assert SECRET not in kept and SCRIPT not in kept
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize("unfolds", ["&e9;", "&q;" * 5_000, "&round;"])
def test_entities_are_not_unfolded(tmp_path: Path, unfolds: str) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    types = f'<!DOCTYPE html [<!ENTITY e0 "ten">{levels}<!ENTITY q "{"A" * 50_000}"><!ENTITY round "&round;">]>'
    (tmp_path / "f.htm").write_text(f"{types}<html><body><p>{SAID}</p><p>{unfolds}</p></body></html>")
    try:
        filing = prepare(tmp_path / "f.htm").filing
    except ReadError as refused:
        assert refused.remedy
    else:
        assert sum(len(page.text) for page in filing.pages) < 100_000
