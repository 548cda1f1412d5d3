"""Split a question into sentences: requests, definitions, instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.evidence.intent import OutputUnit
from fin_agent.lexicon.words import finds, listed, patterns, word_lists

_PATTERNS = patterns("question_patterns")
_CONCESSION = listed("question_words", "of concessions")
_AS_FILINGS_SAY = {
    "small rises": "increased",
    "small falls": "decreased",
    "high levels": "higher",
    "low levels": "lower",
    "earning more": "net income increased",
    "earning less": "net income decreased",
}
_NUMBER_WORDS = {"zero": 0, "no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_SCALE_UNITS: dict[str, OutputUnit] = {
    "thousand": "USD thousands",
    "million": "USD millions",
    "billion": "USD billions",
}


@dataclass(frozen=True, slots=True)
class QuestionSentences:
    """A question split into its sentences."""

    asked: str
    sentences: tuple[str, ...]
    """The requests, one by one."""
    definitions: tuple[tuple[str, str], ...]
    """(name, formula in words): `CCC is defined as DIO + DSO - DPO`."""
    instructions: str
    statements: tuple[str, ...] = ()
    """Complete sentences that are neither requests, definitions nor instructions."""
    afterwards: tuple[str, ...] = ()
    """Those of them that follow a request."""


def sentences_of(question: str) -> QuestionSentences:
    """Separate the requests of a question from definitions and instructions.

    >>> sentences_of("What is the ratio? Round to two decimal places.").asked
    'What is the ratio?'
    """
    asked, instructions, statements, afterwards = [list[str]() for _ in range(4)]
    definitions: list[tuple[str, str]] = []
    for sentence in _sentences(" ".join(question.split())):
        sentence, inner = _without_inner_definitions(sentence)
        definitions += inner
        if found := _definitions(sentence):
            definitions += found
        elif (core := _asking_part(sentence)) and not (asked and _PATTERNS["direction"].match(sentence)):
            asked.append(core)
            instructions.append(sentence.replace(core, " "))
        elif _PATTERNS["instruction"].search(sentence):
            instructions.append(sentence)
        elif "?" in question and _PATTERNS["comparing"].search(sentence):
            asked.append(sentence.rstrip("."))  # `Did it lose money in 2017? Net income and EPS vs 2016`
        else:
            instructions.append(sentence)
            statements.append(sentence)
            afterwards += [sentence] if asked else []
    if not asked:
        if len(definitions) == 1 and not any(_PATTERNS["asking"].search(one) for one in instructions):
            whole = question.strip()  # `DPO = 365 * a / b`
            return QuestionSentences(whole, (whole,), (), " ".join(instructions))
        asked, statements = statements or [question.strip()], []
    asked = [_without_preamble(one) for one in asked]
    return QuestionSentences(
        " ".join(asked), tuple(asked), tuple(definitions), " ".join(instructions), tuple(statements), tuple(afterwards)
    )


def as_claim(question: str) -> str:
    """Return a statement to be confirmed as a yes-or-no question; any other question unchanged.

    >>> as_claim("True or false: Acme's margin rose in 2022")
    "Is it true that Acme's margin rose in 2022?"
    >>> as_claim("Acme's margin rose in 2022 - correct?")
    "Is it true that Acme's margin rose in 2022?"
    """
    found = _PATTERNS["claim after"].match(question) or _PATTERNS["claim before"].match(question)
    if found is None or _PATTERNS["asking"].match(found["claim"]):
        return question
    return f"Is it true that {found['claim'].strip()}?"


def with_what_is_explained(question: str) -> str:
    """Return a question that asks only for the reason of the statement before it as one sentence.

    Of any question for a reason, a level becomes the movement that filings explain, and what it grants is left out:
    nobody asks why that is so. Other questions are unchanged.

    >>> with_what_is_explained("Acme's margin fell in 2022 even though sales rose. What's behind that?")
    "How come Acme's margin fell in 2022?"
    >>> with_what_is_explained("Acme's sales went down in 2022 - how does management account for it?")
    "How come Acme's sales decreased in 2022?"
    >>> with_what_is_explained("Why was Acme's margin so low in 2022 although sales rose?")
    "Why was Acme's margin lower in 2022?"
    >>> with_what_is_explained("What made Acme's margin edge up in 2022?")
    "How come Acme's margin increased in 2022?"
    """
    *earlier, asked = _sentences(question) or [""]
    if (joined := _PATTERNS["stated before"].fullmatch(asked)) and finds(joined["stated"], "moved", "answer_words"):
        earlier, asked = [*earlier, joined["stated"]], joined["asked"]
    if earlier and "?" not in earlier[-1] and finds(asked, "only a reason", "question_words"):
        lead, comma, rest = earlier.pop().strip(" .:;").partition(", ")
        stated = rest if comma and _CONCESSION.match(lead) else f"{lead}{comma}{rest}"
        asked = f"How come {stated}?"
    asked = _PATTERNS["what made"].sub("How come ", asked)
    asked = _PATTERNS["swing to a loss"].sub(lambda loss: f"{loss['of'] or ''}income decreased", asked)
    if (granted := _CONCESSION.search(asked)) and finds(asked, "explanation"):
        kept = asked[: granted.start()].strip(" ,;-–—")
        if any(map(str.isdigit, kept)) or not any(map(str.isdigit, asked)):  # a year may stand in the concession alone
            asked = f"{kept}?"
    if finds(asked, "explanation"):
        for kind, usual in _AS_FILINGS_SAY.items():
            asked = listed("question_words", kind).sub(usual, asked)
    return " ".join([*earlier, asked])


def _definitions(sentence: str) -> list[tuple[str, str]]:
    """Return the (name, formula) of a sentence that only defines: `net debt = debt - cash; EBITDA = EBIT + D&A`."""
    if "?" in sentence:
        return []
    if defined := _PATTERNS["definition"].match(sentence):
        name = next(name for name in defined.group("name1", "name2", "name3") if name)
        return [(name.strip(), defined["formula"].strip())]
    for pieces in ([sentence], sentence.split(";")):
        given = [_PATTERNS["given"].match(piece.strip()) for piece in pieces]
        found = [one for one in given if one is not None and _PATTERNS["operator"].search(one["formula"])]
        if len(found) == len(pieces):
            return [(one["name"].strip(), one["formula"].strip()) for one in found]
    return []


def _without_inner_definitions(sentence: str) -> tuple[str, list[tuple[str, str]]]:
    """Return a sentence without the clauses that define what it names elsewhere, and (name, formula) of each.

    >>> _without_inner_definitions("Acme FCF margin in 2024, taking FCF as operating cash flow less capex?")
    ('Acme FCF margin in 2024?', [('FCF', 'operating cash flow less capex')])
    """
    definitions: list[tuple[str, str]] = []
    for link in reversed(list(_PATTERNS["definition link"].finditer(sentence))):
        formula = _PATTERNS["defined formula"].match(sentence, link.end())
        if formula is None or _PATTERNS["operator"].search(formula[0]) is None:
            continue
        for start in [word.start() for word in _WORD.finditer(sentence, 0, link.start())][-_WORDS_OF_A_NAME:]:
            lead, behind = _PATTERNS["definition lead"].search(sentence[:start]), sentence[formula.end() :]
            name, before = sentence[start : link.start()], sentence[: lead.start()] if lead else ""
            if lead and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", f"{before}\n{behind}", re.I):
                sentence = f"{before}{behind}".lstrip(" ,")
                definitions.insert(0, (name, formula[0].strip(" ,.")))
                break
    return sentence, definitions


_WORD = re.compile(r"[^\s(]+")
_WORDS_OF_A_NAME = 5


def _without_preamble(asked: str) -> str:
    """Return a request without a clause before it that names the source or concedes: `On the balance sheet, what`."""
    lead, comma, rest = asked.partition(", ")
    asks = rest.lower().startswith(("what ", "how ", "which ", "did ", "does ", "is ", "was ", "were "))
    grants = _CONCESSION.match(lead)
    names_source = not word_lists("question_words")["of sources"].isdisjoint(lead.lower().split())
    return rest if comma and asks and (grants or names_source) else asked


def without_form_of_answer(request: str) -> str:
    """Return a request without the digits that its answer is to have, and the statements that it is to be taken from.

    >>> without_form_of_answer("Acme 2023 net debt / EBITDA, from the balance sheet and the P&L, in x to 1 dp?")
    'Acme 2023 net debt / EBITDA, in x?'
    """
    return " ".join(_PATTERNS["form of answer"].sub("", request).split()).lstrip(" ,;")


def requested_decimals(question: str) -> int | None:
    """Return the number of decimal places that the question requests, or None."""
    if found := _PATTERNS["decimals"].search(question):
        word = found["n"].lower()
        return int(word) if word.isdigit() else _NUMBER_WORDS[word]
    nearest = _PATTERNS["nearest"].search(question)
    return None if nearest is None else 1 if nearest["tenth"] else 2 if nearest["cent"] else 0


def requested_unit(question: str) -> OutputUnit | None:
    """Return the unit that the question requests, or None."""
    if scaled := _PATTERNS["scaled"].search(question):
        return _SCALE_UNITS[(scaled[1] or scaled[2]).lower()]
    if _PATTERNS["points"].search(question):
        return "percentage points"
    return "percent" if _PATTERNS["percent"].search(question) else None


def _sentences(text: str) -> list[str]:
    """Split text into sentences; text before a colon stays with what follows, unless it only announces a question."""
    parts = [part.strip() for part in _PATTERNS["sentence end"].split(text) if part and part.strip()]
    joined: list[str] = []
    for part in parts:
        if joined and joined[-1].endswith(":") and not _PATTERNS["instruction"].search(joined[-1]):
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined


def _asking_part(sentence: str) -> str:
    """Return the part of a sentence that asks, or an empty text; an introduction that only names the source is cut."""
    if "?" not in sentence and (not _PATTERNS["asking"].match(sentence) or _PATTERNS["instruction"].search(sentence)):
        return ""
    asked = _PATTERNS["preamble"].sub("", _PATTERNS["lead in"].sub("", sentence))
    return asked if len(asked) > 12 else sentence
