"""What of the passages one call shows: rows as rows, nothing twice, and the text over the edge of a page."""

from __future__ import annotations

from fin_agent.analyst.model.prompt_context import (
    join_row_numbers,
    passages_for_curation,
    passages_in_budget,
    with_neighbours,
)
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.workspace import Workspace

FILING = "harborlight_2024_10k"


def passage(text: str, page: int = 4, ordinal: int = 0, kind: PassageKind = PassageKind.TEXT) -> RetrievedPassage:
    return RetrievedPassage(doc_id=FILING, page=page, ordinal=ordinal, kind=kind, text=text, score=1.0, round=1)


def test_numbers_stand_behind_their_label_and_years_on_a_line_of_their_own() -> None:
    lines = ("(Millions)", "United States", "EMEA", "2022", "2021", "Total revenues", "$", "41,396 ", "$", "(157)")
    more = ("Pretax", "10.5", "%", "", "—", "2020", "Costs", "5")
    assert join_row_numbers("\n".join((*lines, *more))).splitlines() == [
        "(Millions)",
        "United States",
        "EMEA",
        "2022 2021",
        "Total revenues $ 41,396 $ (157)",
        "Pretax 10.5 % —",
        "2020",
        "Costs 5",
    ]


def test_what_another_passage_says_is_not_shown_again() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    page, table = passage(words), passage(words[: len(words) // 2], ordinal=1, kind=PassageKind.TABLE)
    copy = RetrievedPassage(**{**page.model_dump(), "doc_id": "the_same_again"})
    other_year = passage(words.replace("word7 ", "word2024 "), page=9)
    assert passages_in_budget([page, table, copy, other_year]) == [page, other_year]
    assert passages_in_budget([table, other_year, page]) == [page, other_year]


def test_no_more_is_shown_than_one_call_holds() -> None:
    long = [
        passage(f"{number} " + " ".join(f"{number}w{each}" for each in range(600)), page=number) for number in range(12)
    ]
    shown = passages_in_budget(long)
    assert 4 <= len(shown) < 12 and shown == long[: len(shown)]


def test_text_that_breaks_off_is_shown_with_what_it_goes_on_with(workspace: Workspace) -> None:
    stored = workspace.index.passages([PageKey(FILING, page) for page in (3, 4, 5)])
    texts = [RetrievedPassage.of(one, 1.0, 1) for one in stored if one.passage.kind is PassageKind.TEXT]
    before, here, behind = next(three for three in zip(texts, texts[1:], texts[2:], strict=False) if three[1].page == 4)
    broken = here.model_copy(
        update={"text": "and the base salary of not less than the following, as set out below and"}
    )
    whole = here.model_copy(update={"text": "The plant was closed in 2023."})
    assert [each.key for each in with_neighbours([broken], workspace, EVERYTHING)] == [before.key, here.key, behind.key]
    assert with_neighbours([whole], workspace, EVERYTHING) == [whole]
    assert with_neighbours([before, broken, behind], workspace, EVERYTHING) == [before, broken, behind]
    assert with_neighbours([broken], workspace, Scope(pages=(PageKey(FILING, 4),)))[0].page == 4
    left = with_neighbours([broken], workspace, EVERYTHING, {before.key})
    assert [each.key for each in left] == [here.key, behind.key]


def test_the_text_over_the_edge_of_a_page_is_not_shown_beside_a_table_of_its_own(workspace: Workspace) -> None:
    stored = workspace.index.passages([PageKey("quillmark_2024_10k", page) for page in (12, 13)])
    found = [RetrievedPassage.of(one, 1.0, 1) for one in stored]
    here = next(each for each in found if each.kind is PassageKind.TEXT)
    behind = next(each for each in found if each.kind is PassageKind.TEXT and each.page == 13)
    table = next(each for each in found if each.kind is PassageKind.TABLE and each.page == 13)
    broken = here.model_copy(update={"text": "In 2024 we bought stores of"})
    for given in ([broken, table], [table, broken]):
        shown = passages_for_curation(given, workspace, EVERYTHING)
        assert sorted(each.key for each in shown) == [here.key, behind.key]
