"""Texts made to cost dearly whoever reads questions, labels, headings and names: a piece repeated, or words woven."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from importlib import resources
from itertools import islice, product

UNITS = (
    *("*", "* ", "(", ")", "((a))", "[", "a", "A", "Aa ", "aA-", "1", "1,", "1.", "$1 ", "$", "%", "/"),
    *("-", "- ", "—", "–", " ", "\t", "\n", "\n \t", "\xa0", "\u2003", ",", ", ", " ,", ";", ".", ". "),
    *("...", "'", "'s ", "’", '"', "&", " & ", "|", " | ", "_", "and ", ", and ", " and or ", "the "),
    *("of the ", "per ", "as of ", "for the year ended ", "net ", "sales and ", "total ", "in ", "FY2023 "),
    *("2023 ", "2023-", "Q1 ", "fiscal ", "December 31, ", "three months ended ", "from 2020 to ", "Inc. "),
    *("Corp ", "A&B ", "what was ", "how much ", "growth of ", "average ", "ratio of ", "divided by "),
    *("less ", "(a) ", "(1)", "Item 1A. ", "Note 1 - ", "increase (decrease) in ", "(loss) ", "continued "),
    *("( continued ) ", "é", "\ufb01", "İ", "́", "\u200b", "٣", "\u4e2d", "\U0001f600", "\x00", "\ud800"),
)
ENDS = ("", "!", "\x00", " ?", " net income", ")")
LEADS = ("", "What was ", "Net sales ", "* ")
LENGTHS = (26, 400, 3_000, 10_000)


def hostile_texts(most: int = 1_000, longest: int = 10_000) -> Iterator[str]:
    """At most `most` of them, none longer than `longest`, spread over all that there are."""
    every = list(product(LENGTHS, UNITS, LEADS, ENDS))
    step = max(1, len(every) // most)
    for length, unit, lead, end in islice(every[::step], most):
        body = unit * (min(length, longest) // len(unit) + 1)
        yield (lead + body)[: min(length, longest) - len(end)] + end


def woven_texts(most: int, seed: int, longest: int = 10_000) -> Iterator[str]:
    """`most` of them, drawn: words that the readers themselves know, in forms that each of them looks for.

    Runs of one piece find what explodes. These find what trips over its own words, cut off, out of order, nested.
    """
    drawn = random.Random(seed)
    known = _known_words()

    def word() -> str:
        return drawn.choice(known)

    def form() -> str:
        number = f"{drawn.randint(1, 10 ** drawn.randint(1, 18)):,}"
        return drawn.choice(
            (
                f"{word()} {drawn.choice(('and', 'vs', '/', '(', 'of', 'times', ','))} ",
                f"if {word()} > {number} then ",
                f"FY20{drawn.randint(10, 29)} {drawn.choice(('to', 'through', '-', 'until'))} ",
                f"{word()[:-1]}{drawn.choice(('-', '- ', '’ ', ' '))}",
                f"${number}{drawn.choice(('.', ' million ', '%', 'x', 'bn '))}",
                f"{drawn.choice(('not', 'except', 'without', 'never'))} {word()} ",
                f"Mr. {word().title()}, {drawn.choice(('Jr.', 'CPA', 'III'))}, ",
                f"Item {drawn.randint(1, 16)}A {word()} (continued) ",
                f'"{word()}" said "',
                f"{word()}: {word()} = {word()}; i.e. ",
                f"{drawn.choice(('what', 'who', 'why', 'how many'))} is {word()}? ",
                f"**[{word()}](http://x)** <b>{word()} | ",
                "".join(drawn.choice("aA1 ,.-()'\"&$%/:;\n\t*_#|<>[]{}\\") for _ in range(20)),
                "".join(chr(drawn.choice((0x20, 0xA0, 0x2000, 0x4E00, 0x1F300)) + drawn.randint(0, 80)) for _ in "ten"),
            )
        )

    for _ in range(most):
        length, made = drawn.choice((80, 900, 4_000, longest)), ""
        again = form() if drawn.random() < 0.3 else ""  # one form and other words, else all forms
        while len(made) < length:
            made += f"{again}{word()} " if again else form()
        yield (drawn.choice(LEADS) + made)[: length - 20] + drawn.choice(ENDS)


def _known_words() -> list[str]:
    files = [each for each in resources.files("fin_agent.lexicon").joinpath("words").iterdir() if each.is_file()]
    texts = [each.read_text(encoding="utf-8") for each in files if each.name.endswith(".yaml")]
    texts.append(resources.files("fin_agent.query").joinpath("words.yaml").read_text(encoding="utf-8"))
    measures = (
        "net income",
        "total assets",
        "gross margin",
        "EPS",
        "Harborlight",
        "Tellurond's",
        "Quillmark Stores, Inc.",
    )
    return sorted({found for text in texts for found in re.findall(r"[A-Za-z][A-Za-z' -]{2,40}", text)} | {*measures})
