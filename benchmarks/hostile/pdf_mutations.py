"""PDFs that are wrong as PDFs: cycles of objects, wrong lengths and references, bombs, nesting without end."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from random import Random
from types import MappingProxyType

from benchmarks.hostile.byte_mutations import BYTES, Mutation

_NUMBERS = (0, -1, 1, 7, 255, 65_536, 2**31 - 1, 2**31, 2**32, 2**63, 10**30)
_REFERENCE = re.compile(rb"(?<!\d)(\d{1,5}) 0 R\b")
_STREAM = re.compile(rb"(?s)(\d+) 0 obj\s*(<<.{0,400}?>>)\s*stream\r?\n(.*?)\nendstream")


def lengths_wrong(sound: bytes, random: Random) -> bytes:
    """`/Length` of some streams is zero, negative, too long, or a reference to nowhere."""
    wrong = (*(b"%d" % number for number in _NUMBERS), b"9999 0 R", b"4 0 R", b"(ten)")
    return _some(rb"/Length \d+", sound, random, lambda _: b"/Length " + random.choice(wrong))


def numbers_extreme(sound: bytes, random: Random) -> bytes:
    """Numbers of dictionaries (sizes, counts, boxes, widths) are as large or small as can be written."""
    replaced = lambda match: match[1] + b"%d" % random.choice(_NUMBERS)  # noqa: E731
    return _some(
        rb"(/(?:Count|Size|FirstChar|LastChar|Rotate|N|First|Columns|Predictor) ?|[\[ ])-?\d+", sound, random, replaced
    )


def references_wrong(sound: bytes, random: Random) -> bytes:
    """References lead to another object, to their own, or to none: pages that are fonts, parents that are children."""
    numbers = [*re.findall(rb"(?<!\d)(\d{1,5}) 0 obj", sound), b"0", b"99999"]
    return _some(_REFERENCE.pattern, sound, random, lambda _: random.choice(numbers) + b" 0 R")


def pages_in_a_circle(sound: bytes, random: Random) -> bytes:
    """The tree of pages holds itself: directly, through a child, or as its own parent."""
    root = _pages_object(sound)
    tree = random.choice(
        (
            {root: b"<</Type/Pages/Count 17/Kids[%d 0 R]>>" % root},
            {
                root: b"<</Type/Pages/Count 1000000/Kids[4 0 R 90 0 R]>>",
                90: b"<</Type/Pages/Count 9/Kids[%d 0 R]>>" % root,
            },
            {root: b"<</Type/Pages/Parent %d 0 R/Count 17/Kids[%s]>>" % (root, b"4 0 R " * 100_000)},
            {
                number: b"<</Type/Pages/Parent %d 0 R/Count 2/Kids[%d 0 R %d 0 R]>>"
                % (number - 1, number + 1, number + 1)
                for number in range(90, 90 + random.choice((10, 60, 5_000)))
            }
            | {root: b"<</Type/Pages/Count 2/Kids[90 0 R]>>"},
        )
    )
    return _updated(sound, tree)


def xref_wrong(sound: bytes, random: Random) -> bytes:
    """The table of objects is elsewhere, points elsewhere, refers to itself as its own predecessor, or is noise."""
    entry = re.compile(rb"\d{10} 00000 n")
    return random.choice(
        (
            lambda: re.sub(rb"startxref\s+\d+", b"startxref\n%d" % random.randrange(10**6), sound),
            lambda: entry.sub(lambda _: b"%010d 00000 n" % random.randrange(len(sound)), sound),
            lambda: re.sub(rb"trailer\s*<<", b"trailer\n<</Prev %d" % sound.rfind(b"xref\n0"), sound),
            lambda: re.sub(rb"xref\s+0 \d+", b"xref\n0 %d" % random.choice(_NUMBERS), sound),
            lambda: re.sub(rb"/Root \d+ 0 R", b"/Root %d 0 R" % random.randrange(60), sound),
            lambda: re.sub(rb"(?s)xref\s+0.*?trailer", b"trailer", sound),
        )
    )()


def nested_deep(sound: bytes, random: Random) -> bytes:
    """Arrays, dictionaries or strings inside each other, up to half a million deep."""
    depth = random.choice((50, 400, 5_000, 500_000))
    opened, closed = random.choice(((b"[", b"]"), (b"<</A", b">>"), (b"(", b")")))
    inside = opened * depth + b"1" + closed * random.choice((depth, 0, depth // 2))
    root = _pages_object(sound)
    place = random.choice((b"/Kids", b"/MediaBox", b"/Resources", b"/Metadata"))
    return _updated(sound, {root: b"<</Type/Pages/Count 1/Kids[4 0 R]%s %s>>" % (place, inside)})


def object_huge(sound: bytes, random: Random) -> bytes:
    """One object of megabytes: a string, a name, an array of numbers, a dictionary of a hundred thousand keys."""
    size = random.choice((10_000, 300_000, 3_000_000))
    huge = random.choice(
        (
            lambda: b"(" + b"A" * size + b")",
            lambda: b"/" + b"N" * size,
            lambda: b"[" + b"1 " * (size // 2) + b"]",
            lambda: b"<<" + b"".join(b"/K%d 1" % key for key in range(size // 10)) + b">>",
        )
    )()
    return _updated(sound, {_pages_object(sound): b"<</Type/Pages/Count 1/Kids[4 0 R]/MediaBox %s>>" % huge})


def bomb(sound: bytes, random: Random) -> bytes:
    """A page's drawing unpacks to hundreds of megabytes: packed once, twice, or by run lengths."""
    size = random.choice((8, 40, 300)) * 2**20
    piece = random.choice((b" ", b"BT /F0 9 Tf (1,234) Tj ET\n", b"q ", b"[[["))
    drawing = _packed(piece, size)
    number = int(random.choice(_STREAM.findall(sound))[0])
    once = b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(drawing), drawing)
    twice = zlib.compress(drawing, 9)
    runs = (b"\x81" + piece[:1]) * 200_000 + b"\x80"
    body = random.choice(
        (
            once,
            b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%s\nendstream" % (len(twice), twice),
            b"<</Length %d/Filter/RunLengthDecode>>stream\n%s\nendstream" % (len(runs), runs),
        )
    )
    return _updated(sound, {number: body})


def forms_in_a_circle(sound: bytes, random: Random) -> bytes:
    """A page draws a form that draws itself, or forms that each draw the next many times."""
    depth = random.choice((1, 2, 6, 30))
    times = random.choice((1, 10, 100))
    forms = {
        90 + level: _stream(
            b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</XObject<</X %d 0 R>>>>"
            % (90 + (level + 1) % depth),
            b"BT ET /X Do " * times,
        )
        for level in range(depth)
    }
    page, contents = 95 + depth, 96 + depth
    forms[page] = (
        b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 612 792]/Resources<</XObject<</X 90 0 R>>>>/Contents %d 0 R>>"
        % (_pages_object(sound), contents)
    )
    forms[contents] = _stream(b"", b"/X Do " * times)
    forms[_pages_object(sound)] = b"<</Type/Pages/Count 2/Kids[4 0 R %d 0 R]>>" % page
    return _updated(sound, forms)


def filters_wrong(sound: bytes, random: Random) -> bytes:
    """Streams name another packing than theirs, one that does not exist, or a thousand."""
    names = (
        b"LZWDecode",
        b"ASCII85Decode",
        b"ASCIIHexDecode",
        b"DCTDecode",
        b"JBIG2Decode",
        b"JPXDecode",
        b"CCITTFaxDecode",
        b"RunLengthDecode",
        b"Crypt",
        b"NoSuchDecode",
    )
    many = b"/Filter[" + b"/FlateDecode" * random.choice((2, 30, 1_000)) + b"]"
    replaced = lambda _: random.choice((b"/Filter/" + random.choice(names), many))  # noqa: E731
    return _some(rb"/Filter ?/FlateDecode", sound, random, replaced)


def encryption_planted(sound: bytes, random: Random) -> bytes:
    """The file says that it is encrypted, in ways that are not so or do not exist."""
    noise = random.randbytes(32).hex().encode()
    planted = b"/Encrypt<</Filter/%s/V %d/R %d/Length %d/P %d/O<%s>/U<%s>>>/ID[<00><00>]" % (
        random.choice((b"Standard", b"Nothing")),
        random.choice((0, 1, 2, 4, 5, 99)),
        random.choice((0, 2, 3, 4, 6, 99)),
        random.choice((0, 40, 128, 256, 10**9)),
        random.choice((-1, 0, 2**31)),
        noise,
        random.choice((noise, b"", noise * 50)),
    )
    return re.sub(rb"trailer\s*<<", b"trailer\n<<" + planted, sound)


def fonts_wrong(sound: bytes, random: Random) -> bytes:
    """Fonts of unknown kinds, with themselves as descendants, with nonsense as widths, encodings and letters."""
    plants = (
        b"/Subtype/Type0/DescendantFonts[3 0 R]",
        b"/Subtype/Type3/CharProcs 2 0 R/FontMatrix[0 0 0 0 0 0]/FontBBox[0 0 0 0]",
        b"/FirstChar -5/LastChar 1000000000/Widths[" + b"-1e38 " * 500 + b"]",
        b"/Encoding<</Differences[" + b"0/a " * 3_000 + b"]>>",
        b"/ToUnicode 4 0 R",
        b"/FontDescriptor<</FontFile2 6 0 R/Flags -1>>",
    )
    return _some(rb"/Type ?/Font\b", sound, random, lambda _: b"/Type/Font" + random.choice(plants))


def drawing_changed(sound: bytes, random: Random) -> bytes:
    """Bits flip inside a page's unpacked drawing, which is packed again: a sound file that prints something else."""
    matches = list(_STREAM.finditer(sound))
    number, _, packed = random.choice(matches).groups()
    try:
        drawing = bytearray(zlib.decompress(packed))
    except zlib.error:
        return BYTES["bits_flipped"](sound, random)
    for _ in range(random.choice((1, 4, 40))):
        if drawing:
            drawing[random.randrange(len(drawing))] ^= 1 << random.randrange(8)
    return _updated(sound, {int(number): _stream(b"/Filter/FlateDecode", zlib.compress(bytes(drawing)))})


def drawing_hostile(sound: bytes, random: Random) -> bytes:
    """A page draws operators that nest, never end, divide by nothing or place letters beyond any page."""
    drawing = random.choice(
        (
            b"q " * 100_000 + b"BT /F0 9 Tf (1,234) Tj ET",
            b"[" * 50_000,
            b"BT /F0 1e38 Tf 1e38 0 0 -1e38 1e38 1e38 Tm (Total assets 1,234) Tj ET " * 50,
            b"BT /F0 9 Tf " + b"0 0 Td (9) Tj " * 60_000 + b"ET",
            b"0 0 0 0 0 0 cm BT /F0 9 Tf (1,234) Tj ET",
            b"BI /W 100000 /H 100000 /BPC 8 /CS /RGB ID " + random.randbytes(500) + b" EI",
            b"BT /F0 9 Tf (" + b"(" * 20_000 + b") Tj ET",
            b"/Span <</ActualText (" + b"\xfe\xff\xd8\x00" * 2_000 + b")>> BDC BT /F0 9 Tf (1) Tj ET EMC",
        )
    )
    number = int(random.choice(_STREAM.findall(sound))[0])
    return _updated(sound, {number: _stream(b"", drawing)})


def strings_of_other_encodings(sound: bytes, random: Random) -> bytes:
    """Strings of half characters, zero bytes, UTF-16 without its second byte; a header in UTF-16."""
    strings = (
        b"(\xfe\xff\xd8\x00)",
        b"(\x00\x00\x00)",
        b"<FEFF00>",
        b"(\xff\xfe\x41)",
        b"(\\777\\8\\)",
        b"<zz>",
        b"(\xed\xa0\x80)",
    )
    planted = _updated(sound, {97: b"<</Title %s/Author %s/Subject %s>>" % tuple(random.choices(strings, k=3))})
    planted = re.sub(rb"/Info \d+ 0 R", b"/Info 97 0 R", planted)
    return planted if random.random() < 0.7 else planted.replace(b"%PDF-1.7", "%PDF-1.7".encode("utf-16"), 1)


PDFS: Mapping[str, Mutation] = MappingProxyType(
    {
        **BYTES,
        **{
            mutation.__name__: mutation
            for mutation in (
                lengths_wrong,
                numbers_extreme,
                references_wrong,
                pages_in_a_circle,
                xref_wrong,
                nested_deep,
                object_huge,
                bomb,
                forms_in_a_circle,
                filters_wrong,
                encryption_planted,
                fonts_wrong,
                drawing_changed,
                drawing_hostile,
                strings_of_other_encodings,
            )
        },
    }
)


def _some(pattern: bytes, sound: bytes, random: Random, replaced: object) -> bytes:
    """Some of what matches, replaced; at least one where there is any."""
    matches = list(re.finditer(pattern, sound))
    chosen = random.sample(matches, min(len(matches), random.choice((1, 1, 3, 20))))
    broken = sound
    for match in sorted(chosen, key=lambda match: -match.start()):
        broken = broken[: match.start()] + replaced(match) + broken[match.end() :]  # type: ignore[operator]
    return broken


def _pages_object(sound: bytes) -> int:
    found = re.search(rb"(\d+) 0 obj\s*<<\s*/Type\s*/Pages", sound)
    return int(found[1]) if found else 2


def _stream(head: bytes, content: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (head, len(content), content)


def _packed(piece: bytes, size: int) -> bytes:
    packer = zlib.compressobj(9)
    block = piece * (2**20 // len(piece))
    return b"".join([*(packer.compress(block) for _ in range(size // len(block))), packer.flush()])


def _updated(sound: bytes, objects: Mapping[int, bytes]) -> bytes:
    """The file with these objects in the place of its own, as an incremental update (PDF 1.7, 7.5.6) writes them."""
    broken = bytearray(sound if sound.endswith(b"\n") else sound + b"\n")
    before = int(re.findall(rb"startxref\s+(\d+)", sound)[-1])
    root = re.findall(rb"/Root (\d+) 0 R", sound)[-1]
    information = re.findall(rb"/Info (\d+) 0 R", sound)
    table = bytearray(b"xref\n")
    for number, body in sorted(objects.items()):
        table += b"%d 1\n%010d 00000 n \n" % (number, len(broken))
        broken += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(broken)
    trailer = b"trailer\n<</Size %d/Root %s 0 R" % (max(200, *objects) + 1, root)
    trailer += b"/Info %s 0 R" % information[-1] if information else b""
    return bytes(broken + table + trailer + b"/Prev %d>>\nstartxref\n%d\n%%%%EOF\n" % (before, start))
