"""Take a question's words apart: what is asked, what is defined, how the answer is wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.evidence.intent import OutputUnit

_SENTENCE_END = re.compile(
    r"(?<=[?!])\s+"
    r"|(?<=[.:])\s+(?=[A-Z]|(?:what|which|how|who|why|did|does|is|was) )"
    r"(?<!\b[A-Z]\.\s)(?<!\bInc\.\s)(?<!\bCorp\.\s)(?<!\bCo\.\s)(?<!\bvs\.\s)(?<!\bas:\s)"
)
_DEFINITION = re.compile(
    r"^(?:please\s+)?(?:define\s+(?P<name1>.+?)\s+as\b|(?P<name2>.+?)(?:\s+here)?\s+(?:is|are)\s+(?:here\s+)?defined\s+as\b"
    r"|(?P<name3>.+?)\s+here\s+is\s+defined\s+as\b)\s*:?\s*(?P<formula>.+?)[.\s]*$",
    re.I | re.S,
)
_SET = re.compile(
    r"^(?:(?:please|let|let\s+us\s+say|assume|suppose|say|take|given|where|with|use|using|define|note)\s+)*(?:that\s+)?(?:the\s+)?"
    r"(?P<name>[^=:?]{2,60}?)\s*(?:=|\bequals?\b|\bbe\b)\s*(?P<formula>[^=?]+?)[.\s]*$",
    re.I,
)
"""`Let CCR = A / B.`"""
_SET_INSIDE = (
    re.compile(
        r"\s*[(\[]\s*(?:(?:where|with|using|assuming|note|here)\s+)?(?:the\s+)?(?P<name>[^()=\[\]]{2,60}?)\s*(?:=|\bequals\b)\s*"
        r"(?P<formula>[^()=\[\]]*(?:\([^()]*\)[^()=\[\]]*)*)[)\]]",
        re.I,
    ),
    re.compile(
        r",?\s*\b(?:where|with|using|assuming|if|given)\s+(?:the\s+)?(?P<name>[^=,?()]{2,60}?)\s*(?:=|\bequals\b|\bis\s+(?:defined|calculated)\s+as\b)"
        r"\s*(?P<formula>[^?=]+?)\s*(?:\?|$)",
        re.I,
    ),
)
"""`EBITDA margin (EBITDA = A + B)`, `EBITDA margin, where EBITDA = A + B`."""
_INSTRUCTION = re.compile(
    r"\b(answer|respond|round|base your|basing your|please (?:state|help|utili[sz]e)|utili[sz]\w+|provide a response"
    r"|give a (?:response|solution)|approach the question|address the question|calculate (?:\(or|what|unadjusted)"
    r"|we (?:need|want) to|you are an?|if .{0,80}(?:not (?:a )?(?:useful|relevant|explicitly|something)|then)"
    r"|here'?s the question|best of your abilities)\b",
    re.I,
)
_PREAMBLE = re.compile(
    r"^(?:according to|based on|by drawing|drawing|considering|taking into account|using"
    r"|when (?:primarily )?referencing"
    r"|in light of|looking at|from|as per|given|by (?:using|relying))\b[^,?]*?"
    r"\b(?:statements?|sheet|p&l|data|information|details|filing|report|10-?k|10-?q)\b[^,?]*,\s*",
    re.I,
)
_LEAD_IN = re.compile(r"^.*\b(?:question|abilities|following|asked)\b[^:?]*:\s*(?=\S.{8})", re.I | re.S)
_DECIMALS = (
    (re.compile(r"\b(?:to|at)?\s*(zero|one|two|three|four|five|no|[0-6])\s+(?:decimal|digits? after)", re.I), None),
    (re.compile(r"\bnearest tenth\b", re.I), 1),
    (re.compile(r"\bnearest (?:hundredth|cent)\b", re.I), 2),
    (re.compile(r"\bnearest (?:whole (?:number|percent)|integer|million|thousand|billion|dollar|percent)\b", re.I), 0),
)
_NUMBER_WORDS = {"zero": 0, "no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_SCALE_UNITS: dict[str, OutputUnit] = {
    "thousand": "USD thousands",
    "million": "USD millions",
    "billion": "USD billions",
}
_SCALED = re.compile(
    r"\b(?:in|of)\s+(?:units? of\s+)?(?:USD|US\$|U\.S\. dollars?|dollars?|\$)?\s*(?:in )?"
    r"(thousand|million|billion)s?\b"
    r"|\bnearest (thousand|million|billion)\b",
    re.I,
)
_PERCENT = re.compile(
    r"\bunits? of percents?\b|\bin (?:percents?|%)|\bas (?:an? )?(?:%|percent\b|percentage)|\bwhat percent"
    r"|(?<![\d.])% (?:of|margin|change)"
    r"|[,(]\s*(?:percent|%|pct)(?=\s*[,.?)]|\s*$|\s+(?:to\s+)?(?:\d|zero|one|two|three)\b)",
    re.I,
)
_INLINE_FORMULAS = (
    re.compile(r",?\s*\(?\b(?:defined|calculated|computed|measured)\s+as:?\s+(?P<formula>[^?]+?)\)?\s*(?:\?|$)", re.I),
    re.compile(r":\s+(?P<formula>[^?:]+?)\s*(?:\?|$)"),
    re.compile(
        r",\s*(?P<formula>[^,:?()]+?(?:\s(?:times|multiplied\s+by|divided\s+by|less|minus|plus|over)|[/*×+])\s*\([^()]+\))\s*(?:\?|$)",
        re.I,
    ),
    re.compile(r",\s*(?P<formula>\d+\s*[*×][^?]+?)\s*(?:\?|$)"),
    re.compile(r"\s*\((?P<formula>[^()]*(?:\([^()]*\)[^()]*)*)\)"),
)
_OPERATOR = re.compile(r"[/*×÷+]|\s[-–−]\s|\b(?:divided by|minus|less|plus|times|multiplied by)\b", re.I)
_ASKING = re.compile(
    r"(?:what|which|who|how|why|when|where|did|does|do|is|are|was|were|has|have|compare|list|name|describe|explain"
    r"|summari[sz]e|tell|show|give|find|calculate|compute|determine|sum|add|divide|subtract|state|whose|take|rank)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Wording:
    """A question taken apart."""

    core: str
    definitions: tuple[tuple[str, str], ...]
    """(name, formula in words) as the question gives them; no name where the formula stands behind what is asked."""
    instructions: str


def take_apart(question: str) -> Wording:
    """Separate what is asked from definitions and instructions.

    >>> take_apart("What is the ratio? Round to two decimal places.").core
    'What is the ratio?'
    """
    core: list[str] = []
    definitions: list[tuple[str, str]] = []
    instructions: list[str] = []
    for sentence in _sentences(" ".join(question.split())):
        defined = _DEFINITION.match(sentence)
        asked = _asked(sentence)
        if defined and "?" not in sentence:
            name = next(name for name in defined.group("name1", "name2", "name3") if name)
            definitions.append((name.strip(), defined.group("formula").strip()))
        elif "?" not in sentence and (given := _SET.match(sentence)) and _OPERATOR.search(given.group("formula")):
            definitions.append((given.group("name").strip(), given.group("formula").strip()))
        elif asked:
            whole = asked
            asked, inside = _with_definitions(asked)
            definitions += inside
            core.append(asked)
            instructions.append(sentence.replace(whole, " "))
        else:
            instructions.append(sentence)
    if not core:
        told = [sentence for sentence in instructions if not _INSTRUCTION.search(sentence)] or [question.strip()]
        for sentence in told:
            asked, inside = _with_definitions(sentence)
            definitions += inside
            core.append(asked)
    return Wording(" ".join(core), tuple(definitions), " ".join(instructions))


def _with_definitions(asked: str) -> tuple[str, list[tuple[str, str]]]:
    """(what is asked, definitions inside it): those that name what they define, else one that stands for all of it."""
    named: list[tuple[str, str]] = []
    for pattern in _SET_INSIDE:
        while (found := pattern.search(asked)) and _OPERATOR.search(found.group("formula")):
            named.append((found.group("name").strip(), found.group("formula").strip()))
            asked = _without(asked, found)
    if named:
        return asked, named
    asked, formula = _with_formula(asked)
    return asked, [("", formula)] if formula else []


def _without(asked: str, found: re.Match[str]) -> str:
    rest = f"{asked[: found.start()].rstrip(' ,:')} {asked[found.end() :].lstrip(' ,')}".strip()
    return rest if rest.endswith("?") else f"{rest}?"


def _with_formula(asked: str) -> tuple[str, str]:
    """(what is asked, the formula behind it): `ratio, defined as A / B`, `ratio: A / B`, `ratio (A / B)`."""
    for pattern in _INLINE_FORMULAS:
        found = pattern.search(asked)
        if found and _OPERATOR.search(found.group("formula")):
            return _without(asked, found), found.group("formula").strip()
    return asked, ""


def decimals_asked(question: str) -> int | None:
    """Decimal places the answer is to be rounded to, where the question says so."""
    for pattern, fixed in _DECIMALS:
        found = pattern.search(question)
        if found:
            if fixed is not None:
                return fixed
            word = found.group(1).lower()
            return int(word) if word.isdigit() else _NUMBER_WORDS[word]
    return None


def unit_asked(question: str) -> OutputUnit | None:
    """The unit the answer is to be given in, where the question says so."""
    scaled = _SCALED.search(question)
    if scaled:
        scale = (scaled.group(1) or scaled.group(2)).lower()
        return _SCALE_UNITS[scale]
    if re.search(r"\bpercentage points?\b", question, re.I):
        return "percentage points"
    if _PERCENT.search(question):
        return "percent"
    return None


def _sentences(text: str) -> list[str]:
    """The sentences; what stands before a colon stays with what follows, unless it only says that a question does."""
    parts = [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]
    joined: list[str] = []
    for part in parts:
        if joined and joined[-1].endswith(":") and not _INSTRUCTION.search(joined[-1]):
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined


def _asked(sentence: str) -> str:
    """The part of a sentence that asks, or nothing: an introduction that only names the source is cut."""
    if "?" not in sentence and (not _ASKING.match(sentence) or _INSTRUCTION.search(sentence)):
        return ""
    asked = _PREAMBLE.sub("", _LEAD_IN.sub("", sentence))
    return asked if len(asked) > 12 else sentence
