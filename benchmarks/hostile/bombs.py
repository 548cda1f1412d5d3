"""PDFs of a few kilobytes that a library draws for minutes: tilings, nested forms, shadings, clips, masks."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PRINTED = b"BT /F 10 Tf 50 700 Td (Total net revenue was 1,234 in fiscal 2023, and what stands here is read.) Tj ET\n"
_FONTS = b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"


def pdf(content: bytes, more: Sequence[bytes] = (), resources: bytes = b"", box: bytes = b"[0 0 600 800]") -> bytes:
    """One page of `content`; `more` objects count from 5 and are named by `resources`."""
    fonts = b"" if b"/Font<<" in resources else _FONTS
    page = b"<</Type/Page/Parent 2 0 R/MediaBox%b/Contents 4 0 R/Resources<<%b%b>>>>" % (box, fonts, resources)
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, stream(content), *more]
    written, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
    return bytes(written) + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)


def stream(content: bytes, keys: bytes = b"", name: bytes = b"/FlateDecode") -> bytes:
    """A stream, packed."""
    packed = zlib.compress(content, 9)
    return b"<<%b/Filter%b/Length %d>>stream\n%b\nendstream" % (keys, name, len(packed), packed)


def tiling(depth: int = 1, step: bytes = b"0.01") -> bytes:
    """A pattern of tiny steps, `depth` patterns in each other."""
    patterns = []
    for level in range(depth):
        inner = b"/Pattern<</P %d 0 R>>" % (6 + level) if level + 1 < depth else b""
        drawn = b"/Pattern cs /P scn 0 0 9 9 re f" if inner else b"0 0 .01 .01 re f"
        keys = b"/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep %b/YStep %b/Resources<<%b>>"
        patterns.append(stream(drawn, keys % (step, step, inner)))
    return pdf(PRINTED + b"/Pattern cs /P scn 0 0 600 800 re f", patterns, b"/Pattern<</P 5 0 R>>")


def nested_pictures() -> bytes:
    """A picture of 8,000 by 8,000 points drawn thousands of times, each with a mask as large."""
    image = b"/Type/XObject/Subtype/Image/Width 8000/Height 8000/BitsPerComponent 8/ColorSpace/DeviceGray"
    pixels = bytes(8000 * 8000)
    more = [stream(pixels, image + b"/SMask 6 0 R"), stream(pixels, image)]
    drawn = b"".join(b"q 600 0 %d 800 0 0 cm /X Do Q " % (at % 90) for at in range(3_000))
    return pdf(PRINTED + drawn, more, b"/XObject<</X 5 0 R>>")


def forms(times: int = 12, levels: int = 9) -> bytes:
    """Forms that draw forms, with groups of their own."""
    more = [
        stream(
            b"/X Do " * times if level + 1 < levels else b"0 0 600 800 re f",
            b"/Type/XObject/Subtype/#46orm/BBox[0 0 600 800]/Group<</S/Transparency/K true>>/Resources<<%b>>"
            % (b"/XObject<</X %d 0 R>>" % (6 + level) if level + 1 < levels else b""),
        )
        for level in range(levels)
    ]
    return pdf(PRINTED + b"/X Do", more, b"/XObject<</X 5 0 R>>")


def shadings() -> bytes:
    """Thousands of shadings over the whole page, each by a function that is sampled."""
    shade = b"<</ShadingType 1/ColorSpace/DeviceRGB/Domain[0 1 0 1]/Matrix[600 0 0 800 0 0]/Function 6 0 R>>"
    program = b"{" + b"2 copy mul sin exch cos add 360 mul " * 200 + b"sin exch sin 1 index}"
    function = stream(program, b"/FunctionType 4/Domain[0 1 0 1]/Range[0 1 0 1 0 1]")
    return pdf(PRINTED + b"/S sh " * 4_000, [shade, function], b"/Shading<</S 5 0 R>>")


def clips() -> bytes:
    """Clips within clips, each of many curves."""
    curve = b"".join(
        b"%d %d %d %d %d %d c " % tuple((at * k) % 700 for k in (3, 5, 7, 11, 13, 17)) for at in range(400)
    )
    return pdf(PRINTED + (b"q 0 0 m " + curve + b"h W* n ") * 400 + b"0 0 600 800 re f")


def masks() -> bytes:
    """Soft masks that are set anew for each of thousands of rectangles."""
    group = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Group<</S/Transparency/CS/DeviceGray>>"
    more = [b"<</SMask<</S/Luminosity/G 6 0 R>>>>", stream(b"0 0 600 800 re f " * 500, group)]
    return pdf(PRINTED + b"/G gs 0 0 600 800 re f " * 5_000, more, b"/ExtGState<</G 5 0 R>>")


def strokes() -> bytes:
    """Dashes of a thousandth of a point, along lines without end."""
    return pdf(PRINTED + b"[.0001 .0001] 0 d .5 w " + b"0 0 m 600 800 l S 600 0 m 0 800 l S " * 3_000)


def letters() -> bytes:
    """A letter of Type 3 that draws itself by ten thousand curves, printed fifty thousand times."""
    curve = b"0 0 m " + b"1 900 900 1 500 500 c " * 10_000 + b"f"
    font = (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 999 999]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 65/LastChar 65"
        b"/Widths[1]/Encoding<</Differences[65/A]>>/CharProcs<</A 6 0 R>>/Resources<<>>>>"
    )
    content = PRINTED + b"BT /T 500 Tf " + b"1 0 0 1 9 9 Tm (AAAAAAAAAA) Tj " * 4_900 + b"ET"
    return pdf(
        content,
        [font, stream(b"999 0 d0 " + curve)],
        b"/Font<</T 5 0 R/F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>",
    )


BOMBS: Mapping[str, Callable[[], bytes]] = {
    "tiling": tiling,
    "tilings in tilings": lambda: tiling(depth=6, step=b"0.5"),
    "tiling of ten": lambda: tiling(depth=10, step=b"1"),
    "pictures": nested_pictures,
    "forms": forms,
    "shadings": shadings,
    "clips": clips,
    "masks": masks,
    "strokes": strokes,
    "letters": letters,
}
"""What each is, and what makes it."""


def write_bombs(folder: Path) -> list[Path]:
    """All of them, as files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, made in BOMBS.items():
        path = folder / f"{name.replace(' ', '_')}.pdf"
        path.write_bytes(made())
        paths.append(path)
    return paths
