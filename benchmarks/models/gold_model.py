"""A scripted chat model that has the gold record of a benchmark's questions in hand, and one that replies at random.

Both reply in the form that each role asks for. The first leaves questions as they are, keeps the passages of the gold
pages, and quotes what bears out the gold answer; where it finds none, it says what is missing, and searches for the
headings of the gold pages. The second knows nothing: what it replies is well-formed, and means nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.models.page_print import page_text
from benchmarks.models.rubbish import digest_of
from fin_agent.analyst.model.prompt_context import place_of
from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in
from fin_agent.evaluation.financebench import FinanceBenchQuestion, PageKey
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.prompts import quoted_text
from fin_agent.testing import ModelCall
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.workspace import Workspace
from tests.injection.quoted import Quotation, one, quotations

Reply = dict[str, object]
ROLES = {"query_rewrite": "query", "query-rewrite": "query"}
"""A prompt by its file or its role -> as it is called here."""


class GoldModel:
    """A script for `ScriptedChatModel`: the right reply to each role, from the gold records."""

    def __init__(self, questions: Sequence[FinanceBenchQuestion], workspace: Workspace, pdfs: Path) -> None:
        self._by_text = {squeezed(quoted_text(question.question)): question for question in questions}
        self._pdfs = pdfs
        self._workspace = workspace
        self._roles: Mapping[str, Callable[[FinanceBenchQuestion, ModelCall], Reply]] = {
            "intent": self._intent,
            "query": self._query,
            "curation": self._curation,
            "judge": self._judge,
            "reasoning": self._reasoning,
        }

    def __call__(self, call: ModelCall) -> Reply:
        role = ROLES.get(call.role or "", call.role or "")
        question = self._by_text[squeezed(one(quotations(call, "question")))]
        return self._roles[role](question, call)

    def _intent(self, question: FinanceBenchQuestion, call: ModelCall) -> Reply:
        return {"questions": [question.question], "search": " ".join(self._headings(question))}

    def _query(self, question: FinanceBenchQuestion, call: ModelCall) -> Reply:
        return {"query": f"{question.company} {question.question}", "terms": self._headings(question)}

    def _headings(self, question: FinanceBenchQuestion) -> list[str]:
        """Of the gold pages, those that share most words with the question and its answer."""
        wanted = words_of(f"{question.question} {question.answer}")
        printed = dict.fromkeys(
            line.strip(" .$:") for _, text in question.texts for line in text.splitlines() if is_heading(line)
        )
        return sorted(printed, key=lambda line: -len(words_of(line) & wanted))[:12]

    def _judge(self, question: FinanceBenchQuestion, call: ModelCall) -> Reply:
        """Cards tell no page, by which gold would be known: their words are held against those of the answer."""
        wanted = words_of(f"{question.question} {question.answer} {' '.join(self._headings(question))}")
        cards = sorted(quotations(call, "card"), key=lambda card: -len(words_of(card.text) & wanted))
        return {"ranking": [card.number for card in cards]}

    def _curation(self, question: FinanceBenchQuestion, call: ModelCall) -> Reply:
        shown = quotations(call, "passage")
        gold = [*question.pages, *question.also]
        pages = {each.number: self._page_of(each, gold) for each in shown}
        kept = [
            {"passage": number, "reason": "it states what is asked"}
            for number, page in pages.items()
            if page is not None
        ]
        lacking = [page for page in question.pages if page not in pages.values()]
        enough = not lacking or any(page in question.also for page in pages.values())
        missing = [] if enough else [self._titled(question, page) for page in lacking]
        asked = f"What does {question.company} report in: {'; '.join(missing)}?"
        return {
            "kept": kept[:10],
            "missing": missing,
            "answerable": enough,
            "complementary_question": None if enough else asked,
        }

    def _titled(self, question: FinanceBenchQuestion, page: PageKey) -> str:
        """What the gold page that is missing prints, as far as it is like the question and its answer."""
        text = next(text for key, text in question.texts if key == page)
        wanted = words_of(f"{question.question} {question.answer}")
        lines = [line.strip() for line in text.splitlines() if is_heading(line)]
        telling = sorted(lines, key=lambda line: -len(words_of(line) & wanted))
        return " ".join(telling[:2])[:120] or "the page asked about"

    def _page_of(self, passage: Quotation, gold: Sequence[PageKey]) -> PageKey | None:
        """The gold page that a passage stands on."""
        words = set(re.findall(r"\w+", passage.text))
        for page in gold:
            if passage.of != self._place_of(page):
                continue
            # Several reports of one period are told by the same words: the page's own decide.
            printed = set(re.findall(r"\w+", page_text(self._pdfs, page)))
            if len(words & printed) >= 0.7 * len(words):
                return page
        return None

    def _place_of(self, page: PageKey) -> str:
        """As the marks of prompts tell it."""
        passage = RetrievedPassage(
            doc_id=page[0], page=page[1], ordinal=0, kind=PassageKind.TEXT, text="", score=0, round=1
        )
        return " ".join(place_of(passage, self._workspace).split())[:120].replace('"', "'")

    def _reasoning(self, question: FinanceBenchQuestion, call: ModelCall) -> Reply:
        gold = [*question.pages, *question.also]
        passages = [each for each in quotations(call, "passage") if self._page_of(each, gold) is not None]
        chosen = quotes_for(question, passages)
        if not chosen:
            missing = [self._titled(question, page) for page in question.pages]
            asked = f"What does {question.company} report in: {'; '.join(missing)}?"
            return {"answer": None, "missing": missing, "keep": [], "complementary_question": asked}
        sentences = [
            {"text": quote, "citations": [{"passage": passage.number, "quote": quote}]} for passage, quote in chosen
        ]
        # In one sentence, so that its figure stands in the first; what has a number that no quote has is left out.
        borne_out = set(
            _DIGITS.findall(f"{question.question} {' '.join(quote for _, quote in chosen)}".replace(",", ""))
        )
        answer = "; ".join(
            sentence.strip(" .;-–•")
            for sentence in re.split(r"(?<=[.;])\s+|\n", question.answer)
            if sentence.strip() and set(_DIGITS.findall(sentence.replace(",", ""))) <= borne_out
        )
        first = re.match(r"(yes|no)\b", question.answer, re.I)
        verdict = first[1].lower() if first else "none"
        return {"sentences": sentences, "answer": answer or chosen[0][1], "verdict": verdict}


class RandomModel:
    """A script for `ScriptedChatModel`: well-formed replies without sense, the same for the same call and seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def draw(self, call: ModelCall) -> random.Random:
        """What is drawn for a call."""
        return random.Random(f"{self._seed} {digest_of(call)}")

    def __call__(self, call: ModelCall) -> Reply:
        draw = self.draw(call)
        role = ROLES.get(call.role or "", call.role or "")
        question = one(quotations(call, "question"))
        if role == "intent":
            words = question.split()
            asked = [
                " ".join(draw.sample(words, min(8, len(words)))),
                f"revenue of Acme in FY{draw.randint(2014, 2023)}",
            ]
            return {"questions": draw.sample(asked, draw.randint(1, 2)), "search": draw.choice(words)}
        if role == "query":
            words = question.split()
            return {"query": " ".join(draw.sample(words, min(6, len(words)))), "terms": draw.sample(words, 1)}
        if role == "judge":
            numbers = [card.number for card in quotations(call, "card")]
            return {"ranking": draw.sample(numbers, len(numbers))}
        passages = quotations(call, "passage")
        if role == "curation":
            kept = draw.sample(passages, min(len(passages), draw.randint(0, 3)))
            enough = draw.random() < 0.5
            return {
                "kept": [{"passage": each.number, "reason": "it fits"} for each in kept],
                "missing": [] if enough else ["more"], "answerable": enough,
                "complementary_question": None if enough else "What else is there?",
            }  # fmt: skip
        if role == "reasoning":
            if not passages:
                return {"sentences": [], "answer": None, "verdict": "none"}
            passage = draw.choice(passages)
            words = passage.text.split(" ")
            start = draw.randrange(max(1, len(words) - 12))
            quote = " ".join(words[start : start + 12])
            figures = [
                {"name": name, "passage": passage.number, "quote": quote, "number": found[0]}
                for name, found in zip("ab", re.finditer(r"\d[\d,.]*\d|\d", quote), strict=False)
            ]
            result = draw.choice(["a", "100 * (a - b) / b", "a / b", "a * 1000"])
            unit = draw.choice(["percent", "USD millions", "ratio", None])
            calculates = bool(figures) and draw.random() < 0.5
            return {
                "figures": figures if calculates else [],
                "calculations": [{"name": "c", "expression": result, "unit": unit}] if calculates else [],
                "sentences": [{"text": quote, "citations": [{"passage": passage.number, "quote": quote}]}],
                "answer": "It comes to {c}." if calculates else quote, "verdict": draw.choice(["yes", "no", "none"]),
            }  # fmt: skip
        raise AssertionError(role)


MEASURED = (NumeralKind.AMOUNT, NumeralKind.PERCENT)
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def words_of(text: str) -> set[str]:
    """Words of four letters and more, in small letters."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def quotes_for(question: FinanceBenchQuestion, passages: Sequence[Quotation]) -> list[tuple[Quotation, str]]:
    """At most five pieces of the passages that print the gold answer's figures, and the one most like it in words."""
    pieces = [(passage, piece) for passage in passages for piece in pieces_of(passage.text)]
    if not pieces:
        return []
    wanted = words_of(question.answer) - words_of(question.question) or words_of(question.answer)
    chosen: list[tuple[Quotation, str]] = []
    for figure in [each for each in numerals_in(question.answer) if each.kind in MEASURED][:4]:
        printing = [piece for piece in pieces if prints(piece[1], figure)]
        if printing:
            chosen.append(max(printing, key=lambda piece: len(words_of(piece[1]) & wanted)))
    alike = max(pieces, key=lambda piece: len(words_of(piece[1]) & wanted))
    if words_of(alike[1]) & wanted or not chosen:
        chosen.append(alike)
    return list({piece: (passage, piece) for passage, piece in chosen}.values())


def pieces_of(text: str) -> Iterator[str]:
    """Sentences and lines of five to forty words, letter by letter."""
    for block in re.split(r"\n\s*\n|(?<=[.;])\s+(?=[A-Z])|\n(?=[A-Z(•-])", text):
        words = list(re.finditer(r"\S+", block))
        for start in range(0, len(words), 40):
            part = words[start : start + 40]
            if len(part) >= 5:
                yield block[part[0].start() : part[-1].end()]


def prints(text: str, figure: Numeral) -> bool:
    """Whether a text prints a figure's number."""
    return any(abs(each.value) == abs(figure.value) for each in numerals_in(text))


def is_heading(line: str) -> bool:
    """Whether a line holds words and no number."""
    return len(re.findall(r"[A-Za-z]{3,}", line)) >= 2 and not re.search(r"\d", line) and len(line) <= 90


def squeezed(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())
