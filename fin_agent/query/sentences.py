"""The sentences of a question: what is asked, what it defines, how the answer is wanted."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.analyst.rules.wording import _DEFINITION, _INSTRUCTION, _OPERATOR, _SET, _asked, _sentences


@dataclass(frozen=True, slots=True)
class Sentences:
    """A question taken apart by its sentences."""

    asked: str
    definitions: tuple[tuple[str, str], ...]
    """(name, formula in words): `CCC is defined as DIO + DSO - DPO`."""
    instructions: str


def sentences_of(question: str) -> Sentences:
    """Separate what is asked from definitions and instructions.

    >>> sentences_of("What is the ratio? Round to two decimal places.").asked
    'What is the ratio?'
    """
    asked: list[str] = []
    definitions: list[tuple[str, str]] = []
    instructions: list[str] = []
    for sentence in _sentences(" ".join(question.split())):
        defined = _DEFINITION.match(sentence)
        core = _asked(sentence)
        if defined and "?" not in sentence:
            name = next(name for name in defined.group("name1", "name2", "name3") if name)
            definitions.append((name.strip(), defined.group("formula").strip()))
        elif "?" not in sentence and (given := _SET.match(sentence)) and _OPERATOR.search(given.group("formula")):
            definitions.append((given.group("name").strip(), given.group("formula").strip()))
        elif core:
            asked.append(core)
            instructions.append(sentence.replace(core, " "))
        else:
            instructions.append(sentence)
    if not asked:
        asked = [one for one in instructions if not _INSTRUCTION.search(one)] or [question.strip()]
    asked = [_without_preamble(one) for one in asked]
    return Sentences(" ".join(asked), tuple(definitions), " ".join(instructions))


def _without_preamble(asked: str) -> str:
    """What is asked without a clause before it that names the source: `Considering the balance sheet, what is ...`."""
    lead, comma, rest = asked.partition(", ")
    words = set(lead.lower().split())
    asks = rest.lower().startswith(("what ", "how ", "which ", "did ", "is ", "was "))
    return rest if comma and asks and words & _SOURCES else asked


_SOURCES = frozenset(
    {"statement", "statements", "sheet", "filing", "filings", "report", "information", "p&l", "10-k", "10-q"}
)
