"""Answers in words by a chat model, with quotes checked against passages and numbers against quotes.

Its calculations over quoted figures are written as a program and run in the sandbox: Program of Thoughts (Chen et al.
2023), as in HiREC's numeric questions. Each figure is a number within a quote of a passage; expressions may contain no
other numbers but constants and those of the question.
"""

from __future__ import annotations

import ast
import keyword
import re
import unicodedata
from calendar import month_name
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache, partial

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.grounding import PageScale, Quote, numbers_not_in, printable_line, unsupported_numbers
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import MAX_CHARACTERS, join_row_numbers, place_of, quoted_passages
from fin_agent.analyst.model.replies import Calculation, CitedSentence, QuotedFigure, QuotedSource, ReasoningReply
from fin_agent.analyst.reasoning_result import Reasoning, ReasoningStep
from fin_agent.answering.amounts import format_amount, rounded
from fin_agent.answering.answer import AnswerValue, Citation, gives_verdict
from fin_agent.answering.numerals import NumeralKind, numerals_in
from fin_agent.answering.program_syntax import CALLS
from fin_agent.answering.sandbox import MontySandbox, ProgramExecutor
from fin_agent.answering.sentence_binding import contradictions, strip_markup, unsupported_claims, years_in
from fin_agent.config import Settings
from fin_agent.errors import SandboxError
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent, OutputUnit
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.lexicon.text_normalization import words_in
from fin_agent.lexicon.words import finds, word_lists
from fin_agent.models.metering import Meter, metered
from fin_agent.prompts import Quoted, quoted_text, remove_instructions
from fin_agent.prompts.prompt import Value
from fin_agent.retrieval.search_terms import stems_of
from fin_agent.workspace import Workspace

_MIN_WORDS = 3
"""Fewest words of a quote; shorter ones occur anywhere."""
_FEWEST_OF_FIGURE = 2
"""Fewest words of a figure's quote: its label and the figure."""
_MAX_LENGTH = 2_000
_MAX_MISSING_LENGTH = 240
_MAX_MISSING = 6
_UNVERIFIED = "an answer of the model with each claim in a passage"


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The verified content of a model's reply."""

    reasoning: Reasoning | None
    """None if nothing in it is usable."""
    reported_missing: tuple[str, ...] = ()
    """What the model reports missing, for the answer or a part of it."""
    keep: tuple[int, ...] = ()
    """Indexes of evidence to read again together with another search's."""
    complementary: str = ""


@dataclass(frozen=True, slots=True)
class Reasoner:
    """Chain of thought (Wei et al. 2022) over numbered passages, with quotes and calculations."""

    client: ModelClient
    workspace: Workspace
    executor: ProgramExecutor

    def answer(
        self, intent: Intent, evidence: Sequence[Evidence], wanted: str, computed: str = ""
    ) -> ModelAnswer | None:
        """Return the model's answer as far as its quotes support it; None without a usable reply.

        Quotes that are not in their passage are dropped with a warning. `wanted` is the rules' reading of the question;
        `computed` is a result over figures of the filings, which may be quoted like a passage.
        """
        grounds = _AnswerGrounds(self.workspace, intent, evidence, computed, self.executor)
        shown = quoted_passages([each.passage for each in evidence], self.workspace)
        if computed:
            shown.append(Quoted(computed, "computed from figures of the filings"))

        sent_back: list[ReasoningReply] = []

        def fault(reply: ReasoningReply) -> str | None:
            if not _answer_of(reply):
                return None
            try:
                wrong = _CheckedReply(reply, grounds).fault()
            except ValueError as figure:
                wrong = f"{figure}. Quote it as it is printed, or give the answer without it"
            if wrong is not None:
                sent_back.append(reply)
            return wrong

        prompt: dict[str, Value] = {"question": intent.question, "wanted": wanted, "passages": shown}
        reply = self.client.ask("reasoning", ReasoningReply, fault, drafted="answer", **prompt)
        if reply is None:
            return ModelAnswer(_answer_from_quotes(sent_back[-1], grounds), (_UNVERIFIED,)) if sent_back else None
        keep = tuple(number - 1 for number in dict.fromkeys(reply.keep) if 1 <= number <= len(evidence))
        asked = printable_line(reply.complementary_question or "")[:_MAX_MISSING_LENGTH]
        answered = bool(_answer_of(reply))
        lacking = [_without_markup(each)[:_MAX_MISSING_LENGTH] for each in reply.missing]
        if not (answered or lacking):
            lacking = [_without_markup(sentence.text)[:_MAX_LENGTH] for sentence in reply.sentences[-1:]]
        told = tuple(dict.fromkeys(each for each in lacking if each and not grounds.numbers_not_shown(each)))
        if not answered:
            return ModelAnswer(None, told[:_MAX_MISSING] or ("a passage that gives the answer",), keep, asked)
        return ModelAnswer(_CheckedReply(reply, grounds).reasoning(), told[:_MAX_MISSING], keep, asked)


def model_reader(
    settings: Settings, workspace: Workspace
) -> Callable[[str, Sequence[StoredPassage]], AnswerValue | None]:
    """Return a chat model that answers from passages alone, to compare searches; it returns None for no answer.

    Raises ModelSetupError and PromptError.
    """
    client = ModelClient.of(settings)
    client.require("reasoning")
    reasoner = Reasoner(client, workspace, MontySandbox())

    def read(question: str, passages: Sequence[StoredPassage]) -> AnswerValue | None:
        evidence = [Evidence(passage=RetrievedPassage.of(each, 0.0, 1), why="found") for each in passages]
        with metered(Meter(settings.models.budget, of="question")):
            found = reasoner.answer(Intent(question=question, core=question), evidence, "")
        said = found and found.reasoning
        return None if not said else AnswerValue(value=said.value, unit=said.unit, text=said.text)

    return read


class _AnswerGrounds:
    """What may support an answer: the passages shown, the reporting companies, and the question."""

    def __init__(
        self,
        workspace: Workspace,
        intent: Intent,
        evidence: Sequence[Evidence],
        computed: str,
        executor: ProgramExecutor,
    ) -> None:
        self.passages = passages = [each.passage for each in evidence]
        self.intent, self.executor = intent, executor
        texts = [join_row_numbers(passage.text)[:MAX_CHARACTERS] for passage in passages]
        self.texts = [_plain(quoted_text(remove_instructions(text))) for text in (*texts, *filter(None, [computed]))]
        """Texts that may be quoted, as shown, without instructions to the model."""
        self.may_deny = finds(intent.question, "if not useful")
        """Whether the question asks to be told if a measure is unsuitable."""
        self._years = years_in(intent.question)
        self._workspace = workspace
        self._reporters = [place_of(passage, workspace) for passage in passages]
        self._scale_of = lru_cache(maxsize=None)(partial(PageScale, workspace))
        asked = {company.name for company in intent.companies}
        identities = workspace.directory.identities
        written = asked.union(identities[each.doc_id].company for each in passages if each.doc_id in identities)
        self._names = sorted({*written, *(name.title() for name in written)}, key=len, reverse=True)
        small = (word for word in words_in(intent.question) if word.islower())
        generic = (word for words in word_lists("unit_words").values() for word in words)
        self._left_out = frozenset(stems_of(" ".join((*asked, *self._reporters)))).difference(stems_of(" ".join(small)))
        self._left_out |= {*stems_of(" ".join((*word_lists("answer_words")["amounts"], *generic)))}
        """Stems of names, and those that any two sentences of a filing may share.

        Words that the question writes in lower case are no names: the stores of a company called Stores.
        """

    def supports(self, quoted: QuotedSource, fewest: int = _MIN_WORDS) -> bool:
        """Return whether a quote is in its passage, and no figure of the same filing contradicts its sentences."""
        words = _plain(quoted.quote).strip(" .…")
        if not 1 <= quoted.passage <= len(self.texts) or len(words.split()) < fewest:
            return False
        whole = rf"(?<!\w)(?<!\d[.,]){re.escape(words)}(?!\w)(?![.,]\d)"  # `5 stores` is no quote of `425 stores`
        if re.search(whole, self.texts[quoted.passage - 1]) is None:
            return False
        page = self.page_of(quoted)
        if page is None or not any(map(str.isdigit, quoted.quote)):
            return True
        return not contradictions(self._sentences_with(quoted), {page.doc_id}, self._workspace, self._years)

    def page_of(self, quoted: QuotedSource | QuotedFigure) -> PageKey | None:
        """Return the page of a quote's passage; None for a computed result."""
        return self.passages[quoted.passage - 1].on_page if quoted.passage <= len(self.passages) else None

    def locate_quote(self, quoted: QuotedSource) -> Quote:
        """Return a verified quote with its page."""
        page = self.page_of(quoted)
        scale = self._scale_of(page) if page is not None else None
        return Quote(quoted.quote, scale, self._sentences_with(quoted) if scale else "")

    def _sentences_with(self, quoted: QuotedSource) -> str:
        """Return the sentences of the passage that contain a verified quote, which may omit what an amount is of."""
        words, text = _plain(quoted.quote).strip(" .…"), self.texts[quoted.passage - 1]
        start = text.find(words)
        end = text.find(". ", start + len(words))
        return text[text.rfind(". ", 0, start) + 1 : end + 1 if end >= 0 else len(text)].strip()

    def unsupported_numbers_in(self, words: str, quotes: Sequence[Quote], *, denied: bool) -> tuple[str, ...]:
        """Return the numbers of `words` that neither the quotes nor the known texts support."""
        said = _without_known_dates(words, self.texts, self._reporters)
        return unsupported_numbers(said, quotes, " ".join(self._reporters), self.intent.question, denied=denied)

    def unsupported_claims_in(
        self, words: str, quotes: Sequence[Quote], *, denied: bool, results: Collection[str] = ()
    ) -> tuple[str, ...]:
        """Return directions, denials, events and amounts in words that the quotes do not support.

        A direction may be that of a calculated result in `results`; names may come from anything shown.
        """
        also = " ".join((*self._reporters, self.intent.question))
        texts = [*(quote.text for quote in quotes), *(quote.sentences for quote in quotes if quote.sentences)]
        for name in self._names:  # `Advanced Micro Devices` is no statement that something advanced
            words = words.replace(name, " ")
        return unsupported_claims(words, texts, also, claims_nothing=denied, shown=self.texts, results=results)

    def place_of(self, figure: QuotedFigure) -> str:
        """Return a program's comment on a figure: label, filing, page and, for a known fact, line."""
        key = self.page_of(figure)
        if key is None:
            return "computed from figures of the filings"
        amount, words = abs(quoted_amount(figure)), set(stems_of(figure.quote))
        facts = (each.fact for each in self._workspace.index.facts({key.doc_id}, pages=[key]))
        like = [fact for fact in facts if abs(fact.amount) == amount]
        fact = max(like, key=lambda one: len(words & set(stems_of(one.label))), default=None)
        label = fact.label if fact is not None else printable_line(figure.quote).replace("'", "’")
        return f"{label!r}, {key.doc_id} page {key.page + 1}{f' line {fact.line + 1}' if fact is not None else ''}"

    def numbers_not_shown(self, words: str) -> tuple[str, ...]:
        """Return the numbers of `words` that occur nowhere in the model's input."""
        return self.unsupported_numbers_in(words, [Quote(text) for text in self.texts], denied=True)

    def is_relevant(self, words: str, quotes: Sequence[Quote]) -> bool:
        """Return whether a quote is related to these words or to the question."""
        return self.is_linked(f"{words} {self.intent.question}", [quote.text for quote in quotes])

    def is_linked(self, words: str, quotes: Iterable[str]) -> bool:
        """Return whether any quote shares a content word with `words`, or with filings' words for them.

        Names of companies are none.
        """
        lexicon = self._workspace.lexicon
        related = (*lexicon.filing_terms(words), *lexicon.expand((words, *lexicon.metrics_in(words))))
        wanted = self._content_stems(" ".join((words, *related)))
        return any(wanted & self._content_stems(quote) for quote in quotes)

    def _content_stems(self, text: str) -> set[str]:
        stems = set(stems_of(text)) - self._left_out
        return {stem for stem in stems if len(stem) > 1 and not _YEAR.fullmatch(stem)}


class _CheckedReply:
    """A reply with the quotes of it that stand, and its calculations."""

    def __init__(self, reply: ReasoningReply, grounds: _AnswerGrounds) -> None:
        """Check quotes and calculate.

        Raises ValueError if a figure is in no passage, or a calculation fails.
        """
        self._reply, self._grounds = reply, grounds
        self._of_figures: list[Quote] = []
        for figure in reply.figures:
            source = QuotedSource(passage=figure.passage, quote=figure.quote)
            if not grounds.supports(source, _FEWEST_OF_FIGURE):
                told = f"the quote of {quoted_name(figure.name)} is not in passage {figure.passage}"
                raise ValueError(f"{told}, letter by letter with its label")
            self._of_figures.append(grounds.locate_quote(source))
        self._calculated = evaluate_calculations(
            reply.figures, reply.calculations, grounds.intent.question, grounds.executor, grounds.intent.decimals
        )
        self._results = [Quote(line) for line in self._calculated.lines]
        self._result_texts = [one.text for one in self._calculated.results.values()]
        self._standing = [[each for each in one.citations if grounds.supports(each)] for one in reply.sentences]
        said_no = reply.verdict == "no" or words_in(_answer_of(reply).lower())[:1] == ["no"]
        self._denied = said_no or grounds.may_deny
        figures = {each.name: each.number for each in reply.figures}
        self._answer = _without_markup(self._calculated.fill_placeholders(_answer_of(reply), figures))

    def fault(self) -> str | None:
        """Return why the reply is no answer: no valid related quote, or unsupported numbers; None if it is one."""
        reply, grounds, answer = self._reply, self._grounds, self._answer
        if loose := PLACEHOLDER.findall(answer):
            return f"the answer has {quoted_name(loose[0])} in braces, which `calculations` does not name"
        standing = [grounds.locate_quote(each) for one in self._standing for each in one] + self._of_figures
        if not standing:
            return (
                "no quote is in the passage it names, letter by letter: copy one, or give null as the answer"
                if any(sentence.citations for sentence in reply.sentences)
                else "it answers and quotes no passage: every fact needs a quote, or give null as the answer"
            )
        if lacking := grounds.unsupported_numbers_in(answer, [*standing, *self._results], denied=self._denied):
            told = ", ".join(lacking)
            return (
                f"the answer has {told}, which no quote and no calculation has: quote it, calculate it, or leave it out"
            )
        if not grounds.is_relevant(answer, standing) and not any(map(self._follows, reply.sentences, self._standing)):
            return "what it quotes has nothing to do with the question or the answer: quote what supports the answer"
        results = self._result_texts
        if lacking := grounds.unsupported_claims_in(answer, standing, denied=self._denied, results=results):
            told = f"the answer says {', '.join(lacking)}, which no quote supports"
            return f"{told}: quote the words that do, put a calculated result beside it, or leave it out"
        opening = "".join(words_in(answer)[:1])
        if {opening.lower(), reply.verdict} == {"yes", "no"}:
            return f"the answer begins with {opening!r}, and the verdict is {reply.verdict!r}"
        return None

    def _follows(self, sentence: CitedSentence, standing: Sequence[QuotedSource]) -> bool:
        """Return whether a sentence is related both to its quotes and to the answer."""
        grounds, about = self._grounds, f"{self._answer} {self._grounds.intent.question}"
        quotes = [each.quote for each in standing]
        return grounds.is_linked(sentence.text, quotes) and grounds.is_linked(about, [sentence.text])

    def reasoning(self) -> Reasoning:
        """Return the answer with the sentences that stand; the others are dropped with a warning."""
        reply, calculated = self._reply, self._calculated
        citations: dict[Citation, int] = {}
        for figure in reply.figures if reply.calculations else ():
            self._cite(figure, citations)
        steps, text = self._steps(citations), self._answer
        asks = finds(self._grounds.intent.core, "yes or no")
        if reply.verdict != "none" and asks and not gives_verdict(text):
            text = f"{reply.verdict.capitalize()}: {text}"
        written = "".join((reply.answer or "").split())
        named = [one for name, one in calculated.results.items() if f"{{{name}}}" in written]
        only = named[0] if len(named) == 1 and named[0].unit is not None else None
        assumption = _without_markup(reply.assumption or "")[:_MAX_MISSING_LENGTH]
        assumed = any(map(str.isalnum, assumption)) and not self._grounds.numbers_not_shown(assumption)
        return Reasoning(
            text=text,
            citations=tuple(citations),
            steps=tuple(steps),
            program=calculated.program(self._grounds.place_of) if calculated.results else None,
            value=only.value if only else None,
            unit=only.unit if only else None,
            assumed=(assumption,) if assumed else (),
        )

    def _steps(self, citations: dict[Citation, int]) -> list[ReasoningStep]:
        reply, calculated = self._reply, self._calculated
        steps: list[ReasoningStep] = []
        before = list(self._of_figures)
        for sentence, standing in zip(reply.sentences, self._standing, strict=True):
            for quoted in sentence.citations:
                if quoted not in standing:
                    quote = printable_line(quoted.quote)[:120]
                    record_warning(f"a quote of the model is in no passage, or contradicted, and is dropped: {quote!r}")
            own = [self._grounds.locate_quote(quoted) for quoted in standing]
            if own and not self._grounds.is_relevant(sentence.text, own):
                record_warning(
                    "a sentence of the model is dropped: what it quotes has nothing to do with it or the question"
                )
                continue
            before += own
            places = [place for quoted in standing if (place := self._cite(quoted, citations)) is not None]
            said = calculated.fill_placeholders(sentence.text, {})
            lacking = (
                *self._grounds.unsupported_numbers_in(said, [*before, *self._results], denied=self._denied),
                *self._grounds.unsupported_claims_in(said, before, denied=self._denied, results=self._result_texts),
            )
            if lacking:
                record_warning(f"a sentence of the model is dropped: no quote of it has {', '.join(lacking)}")
                continue
            steps.append(ReasoningStep(text=_without_markup(said), citations=tuple(dict.fromkeys(places))))
        return steps

    def _cite(self, quoted: QuotedSource | QuotedFigure, citations: dict[Citation, int]) -> int | None:
        """Return the index of a quote's citation; None for a computed result, the figures of which are cited."""
        if self._grounds.page_of(quoted) is None:
            return None
        of = self._grounds.passages[quoted.passage - 1]
        citation = Citation(doc_id=of.doc_id, page=of.page, text=printable_line(quoted.quote), box=of.box)
        return citations.setdefault(citation, len(citations))


def _answer_from_quotes(reply: ReasoningReply, grounds: _AnswerGrounds) -> Reasoning | None:
    """Return the quotes of a reply whose answer goes beyond them; None if none is about the question."""
    try:
        made = _CheckedReply(reply, grounds).reasoning()
    except ValueError:
        return None
    cited = [made.citations[place] for step in made.steps for place in step.citations]
    question = grounds.intent.question
    about = [each for each in dict.fromkeys(cited) if grounds.is_linked(question, [each.text])]
    if not about:
        return None
    record_warning("the answer is what the model quotes: its other statements are not supported by the quotes")
    return Reasoning(text=" ".join(f"{each.text.rstrip(' .;,')}." for each in about), citations=tuple(about))


def _answer_of(reply: ReasoningReply) -> str:
    """Return the answer on one line; empty if it has no content."""
    text = _without_markup(reply.answer or "")[:_MAX_LENGTH]
    return text if any(map(str.isalnum, text)) else ""


def _without_markup(words: str) -> str:
    return printable_line(strip_markup(words))


_KNOWN = re.compile(
    rf"\b(?:(?:{'|'.join(month_name[1:])})\s+\d{{1,2}}(?:,?\s+\d{{4}})?|(?:19|20)\d\d"
    r"|[\w-]+[\s-](?:weeks?|months?|years?|days?|quarters?)|(?:level|tier|note|item|part)\s+\w+)\b(?![.,]\d)",
    re.I,
)
"""A day, a year, a span, or a name with a number."""


def _without_known_dates(words: str, texts: Sequence[str], places: Sequence[str]) -> str:
    """Return the words without years, days, spans and names with numbers that a passage, its heading or source has.

    They are no figures, and need no quote.
    """
    known = "\n".join((*texts, *places)).casefold().replace("fy", " ")

    def remove(found: re.Match[str]) -> str:
        plain = re.escape(" ".join(found[0].casefold().split()))
        return " " if re.search(rf"(?<![\d.,$]){plain}(?![.,]?\d)", known) else found[0]

    return _KNOWN.sub(remove, words)


_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00ad": None})


def _plain(text: str) -> str:
    """Return text in lower case, with one kind of quotation mark and dash, and single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold().split())


_YEAR = re.compile(r"fy\d+|(?:19|20)\d\d|0+")


CONSTANTS = frozenset(map(Decimal, (0, 1, 2, 3, 4, 10, 12, 52, 53, 90, 100, 360, 365, 1_000, 10_000, 10**6, 10**9)))
_HUNDRED = Decimal(100)
_RATES = ("percent", "percentage points")
_MAX_EXPRESSION_LENGTH = 400
_MAX_NAME_LENGTH = 60
PLACEHOLDER = re.compile(r"\{\s*([A-Za-z]\w*)\s*\}", re.ASCII)
_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Load, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.Pow, ast.USub, ast.UAdd,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one calculation."""

    value: float
    unit: OutputUnit | None
    text: str
    """The formatted value: `12.5%`."""


@dataclass(frozen=True, slots=True)
class CalculationResults:
    """All calculations of a reply."""

    figures: Mapping[str, tuple[QuotedFigure, Decimal]] = field(default_factory=dict)
    """The input figures by name."""
    steps: tuple[str, ...] = ()
    """The program's lines of calculation."""
    results: Mapping[str, Result] = field(default_factory=dict)
    numbers: tuple[Decimal, ...] = ()
    """Numbers of the question used as inputs."""

    def program(self, place_of: Callable[[QuotedFigure], str]) -> str:
        """Return the Python program of the results, with the source of each figure (`place_of`) in a comment."""
        given = (f"{name} = {amount:f}  # {place_of(figure)}" for name, (figure, amount) in self.figures.items())
        return _code((*given, *self.steps), tuple(self.results))

    @property
    def lines(self) -> list[str]:
        """A line for each result and each number of the question in it, which may be quoted like a passage."""
        own = [f"{name.replace('_', ' ')}: {one.text}" for name, one in self.results.items()]
        return [*own, *(f"{number:f}, {number:f}%" for number in self.numbers)]

    def fill_placeholders(self, words: str, figures: Mapping[str, str]) -> str:
        """Return `words` with placeholders such as `{growth}` replaced by results, or by figures as printed."""
        known = {**figures, **{name: one.text for name, one in self.results.items()}}
        return PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), words)


def quoted_name(name: str) -> str:
    """Return a name for a message to the model; names that may contain text of a filing are not repeated."""
    return f"`{name}`" if _is_name(name) else "a figure"


def _is_name(name: str) -> bool:
    return name.isidentifier() and name.isascii() and name[0] != "_" and len(name) <= _MAX_NAME_LENGTH


def evaluate_calculations(
    figures: Sequence[QuotedFigure],
    calculations: Sequence[Calculation],
    question: str,
    executor: ProgramExecutor,
    decimals: int | None = None,
) -> CalculationResults:
    """Compute the calculations of a reply from figures of passages, earlier results and numbers of the question.

    Raises ValueError if one is invalid; the message says what to write instead.
    """
    if not calculations:
        return CalculationResults()
    values: dict[str, tuple[QuotedFigure, Decimal]] = {}
    for figure in figures:
        _require_name(figure.name, values)
        values[figure.name] = figure, quoted_amount(figure)
    own = {abs(each.value) for each in numerals_in(question)}
    rates = {each.name for each in figures if _is_rate(each)}
    used = _inputs_of(calculations, set(values), rates, own)
    needed = {name: given for name, given in values.items() if name in used}
    steps = tuple(f"{one.name} = {printable_line(one.expression)}" for one in calculations)
    lines = (*(f"{name} = {amount:f}" for name, (_, amount) in needed.items()), *steps)
    try:
        given = executor.run(_code(lines, [one.name for one in calculations])).value
    except SandboxError as failure:
        raise ValueError(f"the calculations cannot be run: {failure.what}") from failure
    results: dict[str, Result] = {}
    for one, amount in zip(calculations, given if isinstance(given, list) else [given], strict=True):
        value = rounded(float(amount), None)
        results[one.name] = Result(value, one.unit, format_amount(value, one.unit or "count", decimals))
    return CalculationResults(needed, steps, results, tuple(sorted(own & used)))


def _inputs_of(
    calculations: Sequence[Calculation], known: set[str], rates: set[str], own: set[Decimal]
) -> set[str | Decimal]:
    """Return the names and numbers in calculations over `known` names. Raises ValueError if one is not allowed."""
    used: set[str | Decimal] = set()
    for one in calculations:
        _require_name(one.name, known)
        names, numbers = _parts_of(one.expression)
        wrong = ""
        if unknown := names - known:
            wrong = f"is calculated from {', '.join(map(quoted_name, sorted(unknown)))}, which `figures` does not name"
        elif odd := numbers - CONSTANTS - own:
            told = ", ".join(f"{each:f}" for each in sorted(odd))
            wrong = f"has {told}: neither a figure nor a constant, so quote it in `figures`"
        elif not names:
            wrong = "is calculated from no figure"
        elif one.unit in _RATES and "/" in one.expression and _HUNDRED not in numbers and not names & rates:
            wrong = f"is in {one.unit} and nothing in it is multiplied by 100"
        if wrong:
            raise ValueError(f"{quoted_name(one.name)} {wrong}")
        known.add(one.name)
        used.update(names, numbers)
    return used


def _code(lines: Iterable[str], results: Sequence[str]) -> str:
    returned = f"[{', '.join(results)}]" if len(results) > 1 else results[0]
    return "\n    ".join(("def solution():", *lines, f"return {returned}"))


def quoted_amount(figure: QuotedFigure) -> Decimal:
    """Return a figure as its quote prints it, negative in brackets or after a minus; ValueError if it does not."""
    printed = next(iter(numerals_in(figure.number)), None)
    if printed is None:
        raise ValueError(f"{quoted_name(figure.name)} has no number")
    amount = -abs(printed.value) if figure.number.strip().startswith("(") else printed.value
    if numbers_not_in(printed.printed, figure.quote):
        raise ValueError(f"the quote of {quoted_name(figure.name)} does not contain its number")
    if amount < 0 and not any(each.value == amount for each in numerals_in(figure.quote)):
        raise ValueError(f"{quoted_name(figure.name)} is not printed below zero: write it as it is printed")
    return amount


def _require_name(name: str, taken: Collection[str]) -> None:
    if not _is_name(name) or keyword.iskeyword(name) or name in CALLS or name == "solution":
        raise ValueError("a figure or a result has a name that cannot be used: use small letters, digits and _")
    if name in taken:
        raise ValueError(f"{quoted_name(name)} is named twice")


def _parts_of(expression: str) -> tuple[set[str], set[Decimal]]:
    """Return names and numbers of an expression. Raises ValueError if it is more than arithmetic."""
    if len(expression) > _MAX_EXPRESSION_LENGTH:
        raise ValueError(f"an expression has {len(expression)} characters; {_MAX_EXPRESSION_LENGTH} at most are read")
    try:
        tree = ast.parse(printable_line(expression), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError("an expression cannot be read: use names, + - * / ** and brackets") from None
    nodes = list(ast.walk(tree))
    if not all(isinstance(node, _NODES) for node in nodes):
        raise ValueError("an expression is more than arithmetic")
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    if not all(isinstance(each, ast.Name) and each.id in CALLS for each in called):
        raise ValueError(f"an expression calls what it may not: {', '.join(sorted(CALLS))} only")
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    if not all(type(value) in (int, float) for value in values):
        raise ValueError("an expression has something that is not a number")
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - CALLS
    return names, {Decimal(str(value)) for value in values}


def _is_rate(figure: QuotedFigure) -> bool:
    """Return whether a figure is a percentage, of which a mean is one too."""
    size = abs(quoted_amount(figure))
    return any(abs(each.value) == size and each.kind is NumeralKind.PERCENT for each in numerals_in(figure.quote))
