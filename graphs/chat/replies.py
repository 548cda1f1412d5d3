"""Short replies by rules to what is no question for filings."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fin_agent.analyst.rules.follow_ups import Earlier, MessageKind, gone_on_from
from fin_agent.answering.answer import Citation
from fin_agent.graphs.answer.question_scope import companies_there
from fin_agent.graphs.chat.citing import place_of
from fin_agent.graphs.chat.state import Turn
from fin_agent.lexicon.fiscal import FiscalYears
from fin_agent.workspace import Workspace

_EXAMPLES = 'Ask for instance "What was {company}\'s net income in FY{year}?", then "and the year before?" or "why?".'
_MOST_CITED = 12


def reply_to(
    kind: MessageKind, turns: Sequence[Turn], workspace: Workspace, doc_ids: Collection[str] | None = None
) -> tuple[str, tuple[Citation, ...]]:
    """What is said to a message of this kind, and the citations that it speaks of; of `doc_ids` only, where given."""
    answered = _spoken_of(turns, workspace)
    match kind:
        case MessageKind.WHERE if answered is not None:
            return _named(answered, turns) + _where(answered), answered.citations
        case MessageKind.HOW if answered is not None:
            return _named(answered, turns) + _how(answered), answered.citations
        case MessageKind.DOUBT if answered is not None:
            return _named(answered, turns) + _doubted(answered), answered.citations
        case MessageKind.GREETING:
            return (
                f"Hello. I answer questions over the filings indexed here: {_there(workspace, doc_ids)}. "
                f"{_example(workspace, doc_ids)}",
                (),
            )
        case MessageKind.THANKS:
            return "You are welcome.", ()
        case MessageKind.FAREWELL:
            return "Goodbye.", ()
        case MessageKind.HELP:
            return _help(workspace, doc_ids), ()
    return _unclear(workspace, bool(answered), doc_ids), ()


def asked_in(turns: Sequence[Turn]) -> list[Earlier]:
    """The questions of a conversation, as what is said next may go on from them."""
    return [
        Earlier(turn.question, turn.answer, whole=turn.kind is MessageKind.QUESTION) for turn in turns if turn.question
    ]


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


def _where(turn: Turn) -> str:
    if not turn.citations:
        return f"Nothing of it stands anywhere: it was not answered. It was asked: {turn.question}"
    lines = [
        f"[{n}] {place_of(each)}: {' '.join(each.text.split())[:160]}" for n, each in enumerate(turn.citations, start=1)
    ]
    more = len(lines) - _MOST_CITED
    return "\n".join([*lines[:_MOST_CITED], *([f"and {more} more"] if more > 0 else [])])


def _how(turn: Turn) -> str:
    answer = turn.answer
    assert answer is not None
    if answer.refused:
        return f"It was not answered. What is missing: {'; '.join(answer.missing)}."
    if answer.program is None:
        return f"It is quoted, not computed:\n{_where(turn)}"
    noted = "".join(f"\nNote: {assumption}" for assumption in answer.assumptions)
    return f"By this program, each number of which stands in a filing:\n\n{answer.program.strip()}{noted}"


def _doubted(turn: Turn) -> str:
    answer = turn.answer
    assert answer is not None
    if answer.refused:
        return f"It was not answered. What is missing: {'; '.join(answer.missing)}."
    made = "is computed from" if answer.program is not None else "stands on"
    return (
        f"The answer {made} what is listed below; /evidence N shows where a line stands, /program the computation. "
        f"If another figure was meant, ask for it in full.\n{_where(turn)}"
    )


def _help(workspace: Workspace, doc_ids: Collection[str] | None) -> str:
    return (
        f"I answer questions over the filings indexed here ({_there(workspace, doc_ids)}): figures, ratios, growth, "
        f"comparisons, reasons and passages, each with its page. {_example(workspace, doc_ids)} Questions may go "
        'on from the one before: "and in 2021?", "same for" another company, "as a percentage of revenue?", "which '
        'page is that?".'
    )


def _unclear(workspace: Workspace, something_before: bool, doc_ids: Collection[str] | None) -> str:
    if something_before:
        return (
            f"I cannot tell what that asks, beside the question before. Ask it in full. {_example(workspace, doc_ids)}"
        )
    return f"There is no question before this one that it could go on from. {_example(workspace, doc_ids)}"


def _example(workspace: Workspace, doc_ids: Collection[str] | None) -> str:
    """With a company and a year that are there."""
    directory = workspace.directory
    for company in directory.companies:
        kept = [doc_id for doc_id in company.doc_ids if doc_ids is None or doc_id in doc_ids]
        filed = FiscalYears.of(company.name, (directory.identities[doc_id] for doc_id in kept))
        latest = filed.latest() if kept else None
        if latest is not None:
            return _EXAMPLES.format(company=company.name.split(",")[0], year=latest.fiscal_year)
    return _EXAMPLES.format(company="Acme", year=2023)


def _there(workspace: Workspace, doc_ids: Collection[str] | None) -> str:
    return companies_there(workspace, doc_ids).rstrip(".")
