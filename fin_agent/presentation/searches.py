"""What a search found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import period_of
from fin_agent.presentation.plain import cut, fixed, listing, one_line, right, settings_view
from fin_agent.retrieval.query import Query
from fin_agent.vocabulary.page import Statement

_SHOWN = 280
_FIELD_SHOWN = 240
"""How much of a field of a query is shown: a very long question has hundreds of terms."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document, page or passage found: `page` is None for a document, `text` is empty for all but passages."""

    rank: int
    record: FilingRecord
    score: float
    page: int | None = None
    """0-based."""
    title: str = ""
    item: str | None = None
    statement: Statement | None = None
    text: str = ""
    kind: str = ""
    box: tuple[float, ...] | None = None
    features: tuple[tuple[str, float], ...] = ()
    """What the score is made of; for a passage, that of its page."""


def hits_view(
    hits: Sequence[Hit], *, explain: bool = False, meanings: Mapping[str, str] | None = None, note: str = ""
) -> RenderableType:
    """A line per hit; a passage with its beginning. `meanings` are told below of the names that `explain` shows.

    `note` stands before the meanings: what the figures beside the names are.
    """
    listed = _listed(hits, explain)
    told = [(name, said) for name, said in (meanings or {}).items() if name in named_in(hits)]
    if not explain or not told:
        return listed
    noted = [Padding(Text(note), (1, 0, 0, 0))] if note else []
    return Group(listed, *noted, Padding(settings_view(told), (1, 0, 0, 0)))


def telling(features: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """What a score is made of, the biggest first, without what adds nothing that would show."""
    return sorted(
        ((name, weight) for name, weight in features if round(weight, 3)), key=lambda named: (-abs(named[1]), named[0])
    )


def named_in(hits: Sequence[Hit]) -> set[str]:
    """The names of all that their scores are made of."""
    return {name for hit in hits for name, _ in telling(hit.features)}


def _listed(hits: Sequence[Hit], explain: bool) -> RenderableType:
    if not hits:
        return Text("Nothing found.", style="yellow")
    if hits[0].text:
        return Group(*(_passage(hit, explain) for hit in hits))
    return _table(hits, explain)


def query_view(
    query: Query, companies: Mapping[str, str], *, used: Collection[str] | None = None, strategy: str = ""
) -> RenderableType:
    """What was searched for, field by field, without those that are empty; `companies` gives names by key.

    Of a `strategy` that uses only some fields of the query (`used`, by the names that `--json` gives them), these are
    shown, and of the others that they were understood.
    """
    fields = [
        ("text", "searched for", query.text),
        ("terms", "terms", ", ".join(query.terms)),
        ("expansions", "also", ", ".join(query.expansions)),
        ("synonyms", "synonyms", ", ".join(query.synonyms)),
        ("companies", "companies", "; ".join(companies.get(key, key) for key in query.companies)),
        ("periods", "periods", ", ".join(map(str, query.periods))),
        ("dates", "dates", ", ".join(day.isoformat() for day in query.dates)),
        ("forms", "forms", ", ".join(form.value for form in query.forms)),
        ("statements", "statements", ", ".join(statement.value for statement in query.statements)),
        ("items", "items", ", ".join(query.items)),
        ("figures", "figures", "; ".join(map(str, query.slots))),
    ]
    told = [(name, heading, said) for name, heading, said in fields if said]
    shown = [(heading, one_line(said, _FIELD_SHOWN)) for name, heading, said in told if used is None or name in used]
    understood = [heading for name, heading, _ in told if used is not None and name not in used and name in _UNDERSTOOD]
    if understood:
        shown.append(("not used", f"{', '.join(understood)}: understood, but not used by {strategy}"))
    return Padding(settings_view(shown), (0, 0, 1, 0))


_UNDERSTOOD = ("companies", "periods", "dates", "forms", "statements", "items", "figures")
"""Fields that are no words, and which are missed where a strategy goes by words."""


def _table(hits: Sequence[Hit], explain: bool) -> Table:
    """With `explain`, what the scores are made of takes the place of the widest column."""
    pages = hits[0].page is not None
    table = listing(right("#"), fixed("Filing"))
    if pages:
        table.add_column("Page", justify="right", no_wrap=True)
        table.add_column("Part", no_wrap=True)
    else:
        table.add_column("Form", no_wrap=True)
        table.add_column("Period", no_wrap=True)
    table.add_column("Score", justify="right", no_wrap=True)
    table.add_column("Made of" if explain else "Title" if pages else "Company")
    for hit in hits:
        identity = hit.record.identity
        place = (str((hit.page or 0) + 1), _part(hit)) if pages else (identity.form.value, period_of(identity))
        last = Text(_features(hit), style="dim") if explain else cut(hit.title if pages else identity.company)
        table.add_row(str(hit.rank), one_line(hit.record.doc_id), *place, f"{hit.score:.3f}", last)
    return table


def _passage(hit: Hit, explain: bool) -> RenderableType:
    head = Text.assemble(
        f"{hit.rank:>2}  ",
        (one_line(hit.record.doc_id), "bold"),
        f", page {(hit.page or 0) + 1}",
        (f"  {hit.kind}, {hit.score:.3f}", "dim"),
    )
    lines: list[RenderableType] = [head]
    if explain and hit.features:
        lines.append(Padding(Text(f"its page: {_features(hit)}", style="dim"), (0, 0, 0, 4)))
    lines.append(Padding(Text(one_line(hit.text, _SHOWN)), (0, 0, 1, 4)))
    return Group(*lines)


def _part(hit: Hit) -> str:
    return hit.statement.value if hit.statement else f"Item {hit.item}" if hit.item else ""


def _features(hit: Hit) -> str:
    return ", ".join(f"{name} {weight:.3f}" for name, weight in telling(hit.features))
