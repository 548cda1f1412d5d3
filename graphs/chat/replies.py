"""Short replies by rules to what is no question for filings, and what is indexed, in a few lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fin_agent.analyst.rules.follow_ups import Earlier, MessageKind, gone_on_from
from fin_agent.answering.answer import Citation
from fin_agent.graphs.answer.question_scope import companies_there
from fin_agent.graphs.chat.state import Turn, cited_lines
from fin_agent.lexicon.fiscal import FiscalYears
from fin_agent.workspace import Workspace

_EXAMPLES = 'Ask for instance "What was {company}\'s net income in FY{year}?", then "and the year before?" or "why?".'
_MOST_COMPANIES = 40


def reply_to(
    kind: MessageKind, turns: Sequence[Turn], workspace: Workspace, doc_ids: Collection[str] | None = None
) -> tuple[str, tuple[Citation, ...]]:
    """What is said to a message of this kind, and the citations that it speaks of; of `doc_ids` only, where given."""
    answered = _spoken_of(turns, workspace)
    if answered is not None and kind in (MessageKind.WHERE, MessageKind.HOW, MessageKind.DOUBT):
        return _named(answered, turns) + _of_answer(kind, answered), answered.citations
    there, example = companies_there(workspace, doc_ids).rstrip("."), _example(workspace, doc_ids)
    match kind:
        case MessageKind.GREETING:
            said = f"Hello. I answer questions over the filings indexed here: {there}. {example}"
        case MessageKind.THANKS:
            said = "You are welcome."
        case MessageKind.FAREWELL:
            said = "Goodbye."
        case MessageKind.HELP:
            said = (
                f"I answer questions over the filings indexed here ({there}): figures, ratios, growth, comparisons, "
                f"reasons and passages, each with its page. {example} Questions may go on from the one before: "
                '"and in 2021?", "same for" another company, "as a percentage of revenue?", "which page is that?".'
            )
        case _ if answered is not None:
            said = f"I cannot tell what that asks, beside the question before. Ask it in full. {example}"
        case _:
            said = f"There is no question before this one that it could go on from. {example}"
    return said, ()


def asked_in(turns: Sequence[Turn]) -> list[Earlier]:
    """The questions of a conversation, as what is said next may go on from them."""
    return [
        Earlier(turn.question, turn.answer, whole=turn.kind is MessageKind.QUESTION) for turn in turns if turn.question
    ]


def filings_there(workspace: Workspace, doc_ids: Collection[str] | None = None) -> str:
    """A line for each company with its periods; of the filings `doc_ids` only, where these are given."""
    lines = []
    for company, filed, ticker in _companies(workspace, doc_ids):
        lines.append(f"{company}{f' ({ticker})' if ticker else ''}: {filed.described()}")
    more = len(lines) - _MOST_COMPANIES
    if more > 0:
        lines = [*lines[:_MOST_COMPANIES], f"and {more} companies more: list_filings names them"]
    return "\n".join(lines) or "no filing"


def _companies(workspace: Workspace, doc_ids: Collection[str] | None) -> list[tuple[str, FiscalYears, str | None]]:
    """(name, the years filed, ticker) of each company of the filings `doc_ids`, or of all."""
    directory = workspace.directory
    found = []
    for company in directory.companies:
        kept = [doc_id for doc_id in company.doc_ids if doc_ids is None or doc_id in doc_ids]
        if kept:
            identities = [directory.identities[doc_id] for doc_id in kept]
            ticker = next((each.ticker for each in identities if each.ticker), None)
            found.append((company.name, FiscalYears.of(company.name, identities), ticker))
    return found


def _spoken_of(turns: Sequence[Turn], workspace: Workspace) -> Turn | None:
    """The turn that `that` means: of the question that is gone on from, else the last with an answer."""
    with_answers = [turn for turn in turns if turn.answers]
    standing = gone_on_from(asked_in(with_answers), workspace)
    for turn in reversed(with_answers):
        if standing is not None and turn.question == standing.question and turn.answer == standing.answer:
            return turn
    return with_answers[-1] if with_answers else None


def _named(turn: Turn, turns: Sequence[Turn]) -> str:
    """Names the question where another was asked since."""
    last = next(each for each in reversed(turns) if each.answers)
    return "" if turn is last or turn.answer is None or turn.answer.refused else f"Of: {turn.question}\n"


def _of_answer(kind: MessageKind, turn: Turn) -> str:
    """Where the answer of a turn stands, how it was made, or both, for who doubts it."""
    answer = turn.answer
    assert answer is not None
    where = "\n".join(cited_lines(turn.citations))
    if kind is MessageKind.WHERE:
        return where or f"Nothing of it stands anywhere: it was not answered. It was asked: {turn.question}"
    if answer.refused:
        return f"It was not answered. What is missing: {'; '.join(answer.missing)}."
    if kind is MessageKind.DOUBT:
        made = "is computed from" if answer.program is not None else "stands on"
        return (
            f"The answer {made} what is listed below; /evidence N shows where a line stands, /program the "
            f"computation. If another figure was meant, ask for it in full.\n{where}"
        )
    if answer.program is None:
        return f"It is quoted, not computed:\n{where}"
    noted = "".join(f"\nNote: {assumption}" for assumption in answer.assumptions)
    return f"By this program, each number of which stands in a filing:\n\n{answer.program.strip()}{noted}"


def _example(workspace: Workspace, doc_ids: Collection[str] | None) -> str:
    """With a company and a year that are there."""
    for company, filed, _ in _companies(workspace, doc_ids):
        if (latest := filed.latest()) is not None:
            return _EXAMPLES.format(company=company.split(",")[0], year=latest.fiscal_year)
    return _EXAMPLES.format(company="Acme", year=2023)
