"""HTML filings that are wrong as HTML or as inline XBRL: open tags, entities, encodings, tables, references."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType

from benchmarks.hostile.byte_mutations import BYTES, Mutation

_TAG = re.compile(rb"<[^<>]+>")
_CLOSING = re.compile(rb"</[^<>]+>")
_EXTREME = (b"0", b"-1", b"1000000000", b"99999999999999999999", b"1e9", b"NaN", b"", b"\xc2\xb2", b"100%", b"0x10")


def tags_left_open(sound: bytes, random: Random) -> bytes:
    """Closing tags are missing: one, some, or all of a kind."""
    if random.random() < 0.3:
        kind = random.choice((b"td", b"tr", b"table", b"div", b"span", b"p", b"ix:nonFraction", b"body", b"html"))
        return re.sub(rb"</" + kind + rb">", b"", sound)
    return _some(_CLOSING, sound, random, lambda _: b"")


def tags_crossed(sound: bytes, random: Random) -> bytes:
    """Tags close what is not open, in another's place."""
    closing = _CLOSING.findall(sound)
    return _some(_CLOSING, sound, random, lambda _: random.choice(closing))


def tags_shuffled(sound: bytes, random: Random) -> bytes:
    """Tags stand where others stood, opening or closing."""
    tags = _TAG.findall(sound)
    return _some(_TAG, sound, random, lambda _: random.choice(tags))


def nested_deep(sound: bytes, random: Random) -> bytes:
    """Elements inside each other, up to two hundred thousand deep, closed or not."""
    kind = random.choice((b"div", b"table><tr><td", b"span", b"b", b"ix:nonFraction", b"ul><li", b"font"))
    depth = random.choice((30, 200, 3_000, 200_000))
    last = re.split(rb"[> ]", kind)[-1]
    nest = b"<%s>" % kind * depth + b"Total assets 1,234" + b"</%s>" % last * random.choice((0, depth))
    return _inserted(sound, random, nest)


def text_huge(sound: bytes, random: Random) -> bytes:
    """A word, an attribute, a comment or a style of megabytes."""
    size = random.choice((70_000, 1_000_000, 12_000_000))
    return _inserted(
        sound,
        random,
        random.choice(
            (
                lambda: b"<p>" + b"A" * size + b"</p>",
                lambda: b"<p>" + b"1,234 " * (size // 6) + b"</p>",
                lambda: b'<p title="' + b"B" * size + b'">x</p>',
                lambda: b"<!-- " + b"-" * size + b" -->",
                lambda: b'<p style="' + b"margin:1px;" * (size // 11) + b'">x</p>',
                lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(size // 20)) + b">x</p>",
            )
        )(),
    )


def spans_extreme(sound: bytes, random: Random) -> bytes:
    """Cells that span billions of columns and rows, none, or no number of them."""
    spans = lambda _: b'<td %s="%s" ' % (random.choice((b"colspan", b"rowspan")), random.choice(_EXTREME))  # noqa: E731
    return _some(re.compile(rb"<td\b"), sound, random, spans)


def tables_broken(sound: bytes, random: Random) -> bytes:
    """Rows or cells without their tags, rows outside tables, tables in each cell, cells by the ten thousand."""
    return random.choice(
        (
            lambda: _some(re.compile(rb"</?t[rd][^>]*>"), sound, random, lambda _: b"", many=True),
            lambda: _some(re.compile(rb"</?table[^>]*>"), sound, random, lambda _: b""),
            lambda: _some(re.compile(rb"<td[^>]*>"), sound, random, lambda m: m[0] + b"<table><tr>" + m[0], many=True),
            lambda: _inserted(sound, random, b"<table><tr>" + b"<td>1,234</td>" * 20_000 + b"</tr></table>"),
            lambda: _inserted(
                sound, random, b"<table>" + b"<tr><td>Net sales</td><td>5</td></tr>" * 20_000 + b"</table>"
            ),
            lambda: _some(re.compile(rb"<t[rd][^>]*>"), sound, random, lambda m: m[0] * 3, many=True),
        )
    )()


def entities_expand(sound: bytes, random: Random) -> bytes:
    """Entities that unfold to thousands of millions of characters, to themselves, to local files or to addresses."""
    levels = b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 11))
    types, used = random.choice(
        (
            (b'<!ENTITY e0 "ten million">' + levels, b"&e10;"),
            (b'<!ENTITY e0 "' + b"A" * 100_000 + b'">', b"&e0;" * 5_000),
            (b'<!ENTITY e0 "&e1;"><!ENTITY e1 "&e0;">', b"&e0;"),
            (b'<!ENTITY e0 SYSTEM "file:///etc/passwd">', b"&e0;"),
            (b'<!ENTITY e0 SYSTEM "http://127.0.0.1:9/x">', b"&e0;"),
            (b'<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;', b""),
            (b"", b"&nosuchentity;&#0;&#x110000;&#xD800;&#99999999999;"),
        )
    )
    head = b"<!DOCTYPE html [" + types + b"]>"
    declared = re.match(rb"\s*<\?xml[^>]*\?>", sound)
    start = declared.end() if declared else 0
    return _inserted(sound[:start] + head + sound[start:], random, b"<p>" + used + b"</p>")


def encoding_wrong(sound: bytes, random: Random) -> bytes:
    """Bytes of one encoding under the name of another, of two, or of none that exists."""
    text = sound.decode("utf-8", errors="replace")
    names = ("utf-16", "utf-7", "utf-32", "shift_jis", "ebcdic-cp-us", "no-such", "x" * 5_000, "iso-8859-1", "\u00fc")
    return random.choice(
        (
            lambda: re.sub(rb"(?i)(encoding=\"|charset=)[\w-]+", lambda m: m[1] + random.choice(names).encode(), sound),
            lambda: text.encode(random.choice(("utf-16-le", "utf-16-be", "utf-32", "utf-7"))),
            lambda: text.encode("utf-16")[: -random.randrange(1, 4)],
            lambda: random.choice((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe\x00\x00")) + sound,
            lambda: _some(
                re.compile(rb"[a-z ]{3,}"), sound, random, lambda _: b"\xe9\x93\x80\xed\xa0\x80\xc0\xaf", many=True
            ),
            lambda: _inserted(
                sound, random, "<p>\u202e9,876\u202c \u2066\u0000\ufeff\ufffe 1\u0660\u06f3</p>".encode()
            ),
            lambda: text.replace(" ", "\u3000").replace("0", "\u0660").encode("utf-8"),
        )
    )()


def contexts_in_a_circle(sound: bytes, random: Random) -> bytes:
    """Contexts inside themselves, continuations that continue each other, ids that many share or none has."""
    context = rb"(<xbrli:context id=\"([^\"]+)\">)"
    ids = re.findall(rb" id=\"([^\"]+)\"", sound) or [b"none"]
    return random.choice(
        (
            lambda: _some(re.compile(context), sound, random, lambda m: m[0] * random.choice((2, 300))),
            lambda: _some(
                re.compile(rb"contextRef=\"[^\"]*\""),
                sound,
                random,
                lambda _: b'contextRef="%s"' % random.choice(ids),
                many=True,
            ),
            lambda: _some(
                re.compile(rb"<ix:nonNumeric "), sound, random, lambda _: b'<ix:nonNumeric continuedAt="k1" '
            ),
            lambda: _inserted(
                sound,
                random,
                b'<ix:continuation id="k1" continuedAt="k2">a</ix:continuation>'
                b'<ix:continuation id="k2" continuedAt="k1">b<ix:continuation id="k3" continuedAt="k3">c'
                b"</ix:continuation></ix:continuation>",
            ),
            lambda: _some(
                re.compile(rb" id=\"[^\"]+\""), sound, random, lambda _: b' id="%s"' % random.choice(ids), many=True
            ),
            lambda: re.sub(rb"(?s)<xbrli:context .*?</xbrli:context>", b"", sound),
        )
    )()


def tags_extreme(sound: bytes, random: Random) -> bytes:
    """Scales, decimals, signs, units, dates and formats that no figure has; tags around themselves."""
    number = re.compile(rb"<ix:nonFraction [^>]*>")
    attribute = lambda match: re.sub(  # noqa: E731
        rb"(scale|decimals|unitRef|format|name|sign)=\"[^\"]*\"",
        lambda part: b'%s="%s"' % (part[1], random.choice(_EXTREME)),
        match[0],
    )
    return random.choice(
        (
            lambda: _some(number, sound, random, attribute, many=True),
            lambda: _some(
                re.compile(rb"<xbrli:(?:startDate|endDate|instant)>[^<]*"),
                sound,
                random,
                lambda m: (
                    m[0].split(b">")[0]
                    + b">"
                    + random.choice((b"0000-00-00", b"9999-12-31", b"-1", b"2024-02-30", b""))
                ),
                many=True,
            ),
            lambda: _some(number, sound, random, lambda m: m[0] * random.choice((2, 150))),
            lambda: _some(
                re.compile(rb"(?<=>)[\d,.]+(?=</ix:nonFraction>)"),
                sound,
                random,
                lambda _: random.choice(
                    (b"9" * 5_000, b"1e999999999", b"NaN", b"Infinity", b"(", b"\xd9\xa3", b"1,,2..3")
                ),
                many=True,
            ),
            lambda: re.sub(rb"(?s)<xbrli:unit .*?</xbrli:unit>", b"", sound),
            lambda: sound.replace(b"http://www.xbrl.org/2013/inlineXBRL", b"http://example.com/other"),
        )
    )()


def scripts_and_links(sound: bytes, random: Random) -> bytes:
    """Scripts, frames, objects, style sheets, pictures and refreshes that would fetch or run something."""
    address = b"http://127.0.0.1:9/%d" % random.randrange(10**6)
    plants = (
        b"<script>document.write('Net sales 1')</script>",
        b'<script src="%s"></script>',
        b'<iframe src="%s"></iframe>',
        b'<object data="%s"><embed src="%s"/></object>',
        b'<link rel="stylesheet" href="%s"/>',
        b"<style>@import url(%s); body { background: url(%s) }</style>",
        b'<meta http-equiv="refresh" content="0; url=%s"/>',
        b'<base href="%s"/>',
        b'<img src="%s" onerror="alert(1)"/>',
        b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="%s"/>',
        b'<svg xmlns="http://www.w3.org/2000/svg"><image href="%s"/></svg>',
    )
    plant = random.choice(plants)
    return _inserted(sound, random, plant.replace(b"%s", address))


def markup_broken(sound: bytes, random: Random) -> bytes:
    """Attributes without quotes or names, comments and CDATA that never end, `<` as a word."""
    return random.choice(
        (
            lambda: _some(re.compile(rb"\""), sound, random, lambda _: b"", many=True),
            lambda: _some(re.compile(rb"="), sound, random, lambda _: b"", many=True),
            lambda: _inserted(
                sound,
                random,
                random.choice((b"<!--", b"<![CDATA[", b"<?php", b"<!", b"<script>", b"<textarea>", b"<plaintext>")),
            ),
            lambda: _some(re.compile(rb" "), sound, random, lambda _: b" < ", many=True),
            lambda: _some(re.compile(rb">"), sound, random, lambda _: b"", many=True),
            lambda: _some(re.compile(rb"[a-z]"), sound, random, lambda _: b"\x00", many=True),
        )
    )()


def styles_extreme(sound: bytes, random: Random) -> bytes:
    """Widths, fonts and margins that no page holds."""
    kinds = (b"width", b"font-size", b"padding-left", b"margin", b"text-indent", b"height", b"line-height")
    units = (b"pt", b"px", b"%", b"em", b"in", b"")
    style = lambda _: b'style="%s:%s%s;' % (random.choice(kinds), random.choice(_EXTREME), random.choice(units))  # noqa: E731
    return _some(re.compile(rb"style=\""), sound, random, style, many=True)


def packed_wrong(sound: bytes, random: Random) -> bytes:
    """gzip with a wrong length or sum, cut off, twice, with noise behind it, or with gigabytes inside."""
    packed = gzip.compress(sound, mtime=0)
    return random.choice(
        (
            lambda: packed[:-4] + b"\x00\x00\x00\x00",
            lambda: packed[:-8] + b"\xff\xff\xff\xff" + packed[-4:],
            lambda: packed[: random.randrange(len(packed))],
            lambda: gzip.compress(packed, mtime=0),
            lambda: packed + random.randbytes(100),
            lambda: packed * 40,
            lambda: BYTES["bits_flipped"](packed, random),
            lambda: _bomb(sound, random.choice((40, 400))),
        )
    )()


def repeated(sound: bytes, random: Random) -> bytes:
    """The same content again and again, up to thirty times."""
    start = sound.find(b"<body")
    start = sound.find(b">", start) + 1
    end = sound.rfind(b"</body")
    return sound[:end] + sound[start:end] * random.choice((2, 8, 30)) + sound[end:]


HTMLS: Mapping[str, Mutation] = MappingProxyType(
    {
        **BYTES,
        **{
            mutation.__name__: mutation
            for mutation in (
                tags_left_open,
                tags_crossed,
                tags_shuffled,
                nested_deep,
                text_huge,
                spans_extreme,
                tables_broken,
                entities_expand,
                encoding_wrong,
                contexts_in_a_circle,
                tags_extreme,
                scripts_and_links,
                markup_broken,
                styles_extreme,
                packed_wrong,
                repeated,
            )
        },
    }
)


def _some(
    pattern: re.Pattern[bytes],
    sound: bytes,
    random: Random,
    replaced: Callable[[re.Match[bytes]], bytes],
    *,
    many: bool = False,
) -> bytes:
    """Some of what matches, replaced; at least one where there is any."""
    matches = list(pattern.finditer(sound))
    chosen = random.sample(matches, min(len(matches), random.choice((5, 50, 500) if many else (1, 1, 3, 20))))
    pieces: list[bytes] = []
    end = 0
    for match in sorted(chosen, key=lambda match: match.start()):
        pieces += (sound[end : match.start()], replaced(match))
        end = match.end()
    return b"".join((*pieces, sound[end:]))


def _inserted(sound: bytes, random: Random, plant: bytes) -> bytes:
    """`plant` behind some block of the body."""
    places = [match.end() for match in re.finditer(rb"</(?:p|table|div)>", sound)] or [len(sound)]
    place = random.choice(places)
    return sound[:place] + plant + sound[place:]


def _bomb(sound: bytes, megabytes: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    spaces = b" " * 2**20
    return b"".join([packer.compress(sound), *(packer.compress(spaces) for _ in range(megabytes)), packer.flush()])
