"""What happens to any file: bits flip, its end is missing, slices are lost, swapped or overwritten."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from types import MappingProxyType

Mutation = Callable[[bytes, Random], bytes]
"""Makes a malformed file of a sound one; the same for the same random state."""


def bits_flipped(sound: bytes, random: Random) -> bytes:
    """One bit to a thousand, anywhere."""
    broken = bytearray(sound)
    for _ in range(random.choice((1, 1, 4, 16, 128, 1_000))):
        broken[random.randrange(len(broken))] ^= 1 << random.randrange(8)
    return bytes(broken)


def cut_off(sound: bytes, random: Random) -> bytes:
    """A download that broke off: anywhere, or in the last hundred bytes."""
    return sound[: random.choice((random.randrange(len(sound)), len(sound) - random.randrange(1, 100)))]


def slice_missing(sound: bytes, random: Random) -> bytes:
    """Up to four kilobytes are not there."""
    start, end = _span(sound, random, 4_096)
    return sound[:start] + sound[end:]


def slice_doubled(sound: bytes, random: Random) -> bytes:
    """A stretch stands there several times."""
    start, end = _span(sound, random, 4_096)
    return sound[:end] + sound[start:end] * random.choice((1, 2, 20)) + sound[end:]


def slices_swapped(sound: bytes, random: Random) -> bytes:
    """Two stretches in each other's place, as blocks of a broken disk."""
    start, end = _span(sound, random, 2_048)
    length = end - start
    other = random.randrange(max(1, len(sound) - length))
    first, second = sorted((start, other))
    if first + length > second:
        return sound[:start] + sound[end:]
    return b"".join(
        (
            sound[:first],
            sound[second : second + length],
            sound[first + length : second],
            sound[first : first + length],
            sound[second + length :],
        )
    )


def overwritten(sound: bytes, random: Random) -> bytes:
    """A stretch of noise, of zero bytes or of 0xFF."""
    start, end = _span(sound, random, 4_096)
    noise = random.choice((random.randbytes(end - start), bytes(end - start), b"\xff" * (end - start)))
    return sound[:start] + noise + sound[end:]


def text_mode(sound: bytes, random: Random) -> bytes:
    """Transferred as text: line ends changed, high bits lost, or bytes taken for Latin-1 and written as UTF-8."""
    return random.choice(
        (
            lambda: sound.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
            lambda: bytes(byte & 0x7F for byte in sound),
            lambda: sound.decode("latin-1").encode("utf-8"),
            lambda: sound.decode("utf-8", errors="replace").encode("utf-8"),
        )
    )()


def noise_around(sound: bytes, random: Random) -> bytes:
    """Noise, an HTTP header or another file before it, or after it."""
    other = random.choice(
        (
            random.randbytes(random.choice((10, 2_000, 200_000))),
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            sound,
            b"<html><body><p>Request rate limit exceeded</p></body></html>",
        )
    )
    return random.choice((other + sound, sound + other))


BYTES: Mapping[str, Mutation] = MappingProxyType(
    {
        mutation.__name__: mutation
        for mutation in (
            bits_flipped,
            cut_off,
            slice_missing,
            slice_doubled,
            slices_swapped,
            overwritten,
            text_mode,
            noise_around,
        )
    }
)


def _span(sound: bytes, random: Random, most: int) -> tuple[int, int]:
    start = random.randrange(len(sound))
    return start, min(len(sound), start + random.randrange(1, most))
