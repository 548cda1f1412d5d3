"""Yes or no, where one sentence settles it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.reasoning.answer_extraction import phrase_in
from fin_agent.analyst.rules.reasoning.term_coverage import Term, stems_in
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.words import word_lists

_AFTER = re.compile(r",\s+(?:which|and|as|because|so|due)\b")
"""What follows a clause does not take back what it says."""
_OF_THE_FILER = re.compile(r"^(?:[^.;]{0,60},\s+)?(?:we|our|the (?:company|registrant|corporation)|no |none)\b", re.I)
_OF_OTHERS = re.compile(
    r"our\s+(?:\w+\s+){0,2}?(audits?|auditors?|customers?|competitors?|suppliers?|members|vendors|partners|lenders|insurers|licensees|peers)\b",
    re.I,
)
_EXCLUDES_OTHERS = re.compile(r"\bno(?: single)? other\b|\bnot only\b|\bnot limited to\b|\bno assurance\b", re.I)
_SEVERAL = re.compile(r"[^.;]+;|\bbut\b|\bhowever\b|\balthough\b|\bwhile\b", re.I)
_JUDGED = re.compile(
    r"\b(?:healthy|reasonabl[ey]|strong|weak|good|bad|similar|substantial\w*|meaningful|useful|relevant|able to"
    r"|capital[- ]intensive)\b",
    re.I,
)
"""What is a matter of judgement: the evidence is given without a verdict."""
_OWNS = re.compile(r"\b(?:own|owns|owned)\b(?!\s+\w+s?\s+own)", re.I)
"""`Own` is no search term: it is in every sentence of a filing."""
_DENIED = re.compile(r"\b(?:not|n['’]t|no|never)\b", re.I)
_SUBJECT = re.compile(r"\b(?:we|our|us|company|registrant|corporation)\b", re.I)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_LONGEST_CLAUSE, _SOON = 32, 4


def verdict_of(sentence: str, intent: Intent, terms: Sequence[Term]) -> str:
    """`Yes`, `No`, or nothing where the sentence leaves it open.

    It settles a question where it is about the filer, says all that is asked, and does so without a condition.
    """
    sentence = _AFTER.split(sentence, maxsplit=1)[0]
    if _JUDGED.search(intent.core) or phrase_in("hedges", sentence) or _EXCLUDES_OTHERS.search(sentence):
        return ""
    names = [
        word for company in intent.companies for word in (company.name, company.name.removeprefix("THE ").split(" ")[0])
    ]
    about = _OF_THE_FILER.search(sentence) or any(sentence.lower().startswith(name.lower()) for name in names if name)
    stems = set(stems_in(sentence))
    others = _OF_OTHERS.match(sentence)
    if others and not any(term.borne_out(stems_in(others[1])) for term in terms):
        return ""
    if not about or _SEVERAL.search(sentence) or not all(term.is_said(stems) for term in terms):
        return ""
    if not _says_it_at_once(sentence, terms) or (_OWNS.search(intent.core) and not _OWNS.search(sentence)):
        return ""
    years, asked = {int(year) for year in _YEAR.findall(sentence)}, {each.fiscal_year for each in intent.periods}
    if years and asked and not years & asked:
        return ""
    denials = len(re.findall(rf"\b(?:{'|'.join(sorted(word_lists('answer_words')['denials']))})\b", sentence, re.I))
    if denials > 1 or _DENIED.search(intent.core):
        return ""
    return "No" if denials else "Yes"


def _says_it_at_once(clause: str, terms: Sequence[Term]) -> bool:
    """Whether a short clause says soon after its subject what is asked: `We license it to makers of X` makes no X."""
    if len(clause.split()) > _LONGEST_CLAUSE:
        return False
    subject = _SUBJECT.search(clause)
    after = clause[subject.end() :].split() if subject else clause.split()
    soon = set(stems_in(" ".join(after[:_SOON])))
    return any(term.is_said(soon) for term in terms)
