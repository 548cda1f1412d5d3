from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from fin_agent.filings.xbrl.tags import MAX_TEXT, TaggedDocument, read_tags
from fin_agent.vocabulary.fact import Tag
from tests.filings.xbrl.documents import DEFINITIONS, Mode, document, figure, words

NIL = 'xsi:nil="true"'
both_modes = pytest.mark.parametrize("mode", ["xml", "html"])


def only(read: TaggedDocument) -> Tag:
    (tag,) = read.tags
    return tag


@both_modes
def test_a_figure_is_read_with_all_that_is_said_of_it(mode: Mode) -> None:
    printed = figure("1,234.5", 'decimals="-5" scale="6" sign="-" format="ixt:num-dot-decimal"')
    read = read_tags(document(f"<p>Loss ({printed})</p>", mode))
    assert only(read) == Tag(
        concept="us-gaap:Assets",
        value=Decimal(-1_234_500_000),
        text="1,234.5",
        context="now",
        end=date(2024, 9, 28),
        unit="USD",
        decimals=-5,
    )
    assert read.warnings == ()
    assert read.elements[0].text == "1,234.5"


@both_modes
@pytest.mark.parametrize("version", ["2008", "2010", "2013"])
def test_every_version_of_inline_xbrl_is_read(mode: Mode, version: str) -> None:
    assert only(read_tags(document(figure(), mode, version=version))).value == 5


@both_modes
def test_tags_come_in_document_order_with_hidden_and_nested_ones(mode: Mode) -> None:
    body = words(f"<p>Cash of {figure('7', name='us-gaap:Cash')} and {figure('8', name='us-gaap:Debt')}</p>")
    read = read_tags(document(body, mode, hidden=figure("0", name="us-gaap:Hidden")))
    assert [tag.concept for tag in read.tags] == ["us-gaap:Hidden", "dei:Note", "us-gaap:Cash", "us-gaap:Debt"]
    assert [tag.value for tag in read.tags] == [0, None, 7, 8]
    assert [tag.numeric for tag in read.tags] == [True, False, True, True]
    assert [element.get("name") for element in read.elements] == [tag.concept for tag in read.tags]


@both_modes
def test_a_duration_and_a_value_per_share(mode: Mode) -> None:
    body = '<ix:nonFraction name="us-gaap:Eps" contextRef="year" unitRef="per" decimals="2">6.11</ix:nonFraction>'
    tag = only(read_tags(document(body, mode)))
    assert (tag.start, tag.end, tag.unit) == (date(2023, 10, 1), date(2024, 9, 28), "USD/shares")


@both_modes
def test_the_outer_of_nested_figures_takes_the_text_of_the_inner(mode: Mode) -> None:
    inner = figure("1,500", 'scale="3" format="ixt:num-dot-decimal"', name="us-gaap:Cash")
    outer = figure(f" {inner} ", 'scale="3" format="ixt:num-dot-decimal"')
    read = read_tags(document(f"<p>{outer}</p>", mode))
    assert [(tag.concept, tag.value, tag.text) for tag in read.tags] == [
        ("us-gaap:Assets", 1_500_000, "1,500"),
        ("us-gaap:Cash", 1_500_000, "1,500"),
    ]


@both_modes
@pytest.mark.parametrize("printed", ["", "17"])
def test_nil_has_no_value_whatever_it_prints(mode: Mode, printed: str) -> None:
    tag = only(read_tags(document(f"<p>{figure(printed, NIL)}</p>", mode)))
    assert (tag.nil, tag.value, tag.text, tag.flags) == (True, None, printed, ())


@both_modes
def test_texts_go_on_in_their_continuations(mode: Mode) -> None:
    body = (
        "<div>"
        + words("<p>First</p><p>part</p>", 'continuedAt="c1"')
        + """</div>
        <table><tr><td><ix:continuation id="c2">third</ix:continuation></td></tr></table>
        <ix:continuation id="c1" continuedAt="c2"><div>second<span> one</span></div></ix:continuation>"""
    )
    assert only(read_tags(document(body, mode))).text == "First part second one third"


@both_modes
def test_continuations_that_are_missing_or_go_in_a_circle_end_the_text(mode: Mode) -> None:
    body = (
        words("lost", 'continuedAt="gone"')
        + words("round", 'continuedAt="c1"', name="dei:Other")
        + """<ix:continuation id="c1" continuedAt="c2">and</ix:continuation>
        <ix:continuation id="c2" continuedAt="c1">on</ix:continuation>"""
    )
    read = read_tags(document(body, mode))
    assert [tag.text for tag in read.tags] == ["lost", "round and on"]
    assert [warning.what for warning in read.warnings] == [
        "texts go on in parts that the file does not hold, or in a circle (gone, c1): what was found of them is kept",
    ]


@both_modes
def test_what_is_excluded_or_hidden_is_no_part_of_a_text(mode: Mode) -> None:
    body = words(
        """<div>We lease <ix:exclude><p>Page 7</p></ix:exclude>offices<span style="DISPLAY: none">secret</span>
        <p>in <b>St</b>ockholm</p><table><tr><td>1</td><td>2</td></tr></table></div>"""
    )
    assert only(read_tags(document(body, mode))).text == "We lease offices in Stockholm 1 2"


@both_modes
def test_a_tag_inside_a_hidden_part_keeps_its_own_text(mode: Mode) -> None:
    inner = words("<b>kept</b>", name="dei:Inner")
    read = read_tags(document(words(f"outer<div style='display:none'>{inner}</div>"), mode))
    assert [tag.text for tag in read.tags] == ["outer", "kept"]


def test_long_texts_are_cut() -> None:
    read = read_tags(document(words(f"<p>{'word ' * MAX_TEXT}</p>") + words("x" * MAX_TEXT, name="dei:Fits")))
    assert [len(tag.text) for tag in read.tags] == [pytest.approx(MAX_TEXT, abs=5), MAX_TEXT]
    assert read.tags[0].text.endswith("word…")
    assert read.tags[1].text.endswith("x")


@both_modes
@pytest.mark.parametrize(
    ("format_name", "printed", "stated"),
    [
        ("ixt:date-monthname-day-year-en", "September&#160;28, 2024", "2024-09-28"),
        ("ixt:fixed-true", "Audit Committee", "true"),
        ("ixt-sec:durwordsen", "five years", "five years"),
        ("other:stateprovnameen", "California", "California"),
        ("ixt:num-dot-decimal", "1,250", "1250"),
    ],
)
def test_formats_of_texts_are_applied(mode: Mode, format_name: str, printed: str, stated: str) -> None:
    tag = only(read_tags(document("<p>" + words(printed, f'format="{format_name}"') + "</p>", mode)))
    assert (tag.text, tag.flags, tag.value) == (stated, (), None)


def test_a_text_whose_format_does_not_fit_stays_as_printed() -> None:
    read = read_tags(document(words("soon", 'format="ixt:date-month-day"')))
    assert (only(read).text, only(read).flags) == ("soon", ("unknown format",))
    assert read.warnings[0].what == (
        "unknown format in 1 tag (dei:Note): texts are kept as printed, numbers have no value"
    )


@both_modes
def test_what_the_file_does_not_define_is_flagged_and_told_of_once(mode: Mode) -> None:
    body = "".join(figure(str(number), context=f"c{number}") for number in range(5))
    body += '<ix:nonFraction name="us-gaap:Cash" contextRef="now" unitRef="none">1</ix:nonFraction>'
    read = read_tags(document(f"<p>{body}</p>", mode))
    assert [tag.flags for tag in read.tags] == [("unknown context",)] * 5 + [("unknown unit",)]
    assert [tag.end for tag in read.tags[:5]] == [None] * 5
    assert [warning.what for warning in read.warnings] == [
        "unknown context in 5 tags (c0, c1, c2, ...): their periods are not known",
        "unknown unit in 1 tag (us-gaap:Cash): what they count is not known",
    ]


@both_modes
def test_missing_attributes_are_no_error(mode: Mode) -> None:
    read = read_tags(document("<p><ix:nonFraction>5</ix:nonFraction><ix:nonNumeric>x</ix:nonNumeric></p>", mode))
    assert [(tag.concept, tag.context, tag.value) for tag in read.tags] == [("", "", 5), ("", "", None)]
    assert "no name in 2 tags: what they mean is not known" in [warning.what for warning in read.warnings]


@pytest.mark.parametrize("attributes", ['scale="999999"', 'scale="-31"', 'scale="six"', 'format="ixt:num-inf"'])
def test_nonsense_gives_no_value(attributes: str) -> None:
    tag = only(read_tags(document(figure("5", attributes))))
    assert (tag.value, tag.flags) == (None, ("not a number",))


@pytest.mark.parametrize("printed", ["", "n/a", "(5)", "1.2.3", "9" * 5000])
def test_a_print_that_is_no_number_gives_no_value(printed: str) -> None:
    tag = only(read_tags(document(figure(printed))))
    assert (tag.value, tag.flags) == (None, ("not a number",))


def test_under_an_unknown_format_the_plain_reading_is_tried() -> None:
    read = read_tags(
        document(figure("1,250", 'format="x:new"') + figure("MMXX", 'format="x:new"', name="us-gaap:Cash"))
    )
    assert [(tag.value, tag.flags) for tag in read.tags] == [(1250, ("unknown format",)), (None, ("unknown format",))]


@pytest.mark.parametrize(
    ("attributes", "decimals"),
    [
        ('decimals="-6"', -6),
        ('decimals="2"', 2),
        ('decimals="INF"', None),
        ('decimals="many"', None),
        ("", None),
        ('precision="2" scale="3"', 4),
        ('precision="INF"', None),
        ('precision="0"', None),
    ],
)
def test_accuracy(attributes: str, decimals: int | None) -> None:
    tag = only(read_tags(document(figure("150", attributes))))
    assert tag.decimals == (None if decimals is None else -decimals if "precision" in attributes else decimals)


def test_an_id_defined_twice_keeps_its_first_meaning() -> None:
    second = DEFINITIONS.replace("2024-09-28</xbrli:instant>", "1999-01-01</xbrli:instant>")
    read = read_tags(document(figure(), definitions=DEFINITIONS + second))
    assert only(read).end == date(2024, 9, 28)
    assert [warning.what for warning in read.warnings] == [
        "contexts or units are defined twice under one id (now, again): the first counts"
    ]


@both_modes
def test_copies_that_agree_are_duplicates_even_under_another_context_id(mode: Mode) -> None:
    body = (
        figure("12,345", 'decimals="0" format="ixt:num-dot-decimal"')
        + figure("12", 'decimals="-3" scale="3"', context="again")
        + figure("12,345", 'decimals="0" format="ixt:num-dot-decimal"', context="year")
    )
    read = read_tags(document(f"<p>{body}</p>", mode))
    assert [tag.flags for tag in read.tags] == [(), ("duplicate",), ()]
    assert read.warnings == ()


def test_copies_that_differ_are_all_in_conflict() -> None:
    body = figure("5", 'decimals="-6" scale="6"') + figure("6", 'decimals="-6" scale="6"', context="again")
    read = read_tags(document(body))
    assert [(tag.value, tag.flags) for tag in read.tags] == [(5_000_000, ("conflict",)), (6_000_000, ("conflict",))]
    assert [warning.what for warning in read.warnings] == [
        "conflict in 2 tags (us-gaap:Assets): values differ; compare the pages that print them"
    ]


def test_nil_beside_a_value_is_a_conflict_and_two_nils_are_not() -> None:
    nil = figure("", NIL)
    assert [tag.flags for tag in read_tags(document(nil + figure("5"))).tags] == [("conflict",)] * 2
    assert [tag.flags for tag in read_tags(document(nil + nil)).tags] == [(), ("duplicate",)]


def test_of_texts_only_equal_ones_are_duplicates() -> None:
    read = read_tags(document(words("a") + words("b") + words("a")))
    assert [tag.flags for tag in read.tags] == [(), (), ("duplicate",)]


def test_a_document_without_tags() -> None:
    assert read_tags(etree.HTML("<html><body><header>Plain</header></body></html>")) == TaggedDocument()


@given(
    st.integers(min_value=0, max_value=10**15),
    st.integers(min_value=0, max_value=4),
    st.integers(min_value=-8, max_value=12),
    st.booleans(),
    st.sampled_from(["ixt:num-dot-decimal", "ixt:num-comma-decimal", "ixt1:numdotdecimal", "ixt1:numspacecomma", ""]),
)
def test_a_number_survives_tagging(digits: int, places: int, scale: int, negative: bool, format_name: str) -> None:
    shown = Decimal(digits).scaleb(-places)
    printed = f"{shown:,.{places}f}"
    if "comma" in format_name:
        printed = printed.translate({ord(","): "." if "num-" in format_name else "\xa0", ord("."): ","})
    elif not format_name:
        printed = printed.replace(",", "")
    attributes = f'scale="{scale}"' + (' sign="-"' if negative else "")
    attributes += f' format="{format_name}"' if format_name else ""
    tag = only(read_tags(document(figure(printed, attributes))))
    magnitude = Decimal(f"{digits}E{scale - places}")
    assert tag.value == (-magnitude if negative else magnitude)
    assert "E+" not in str(tag.value)


@given(st.text(alphabet='<>/abx "=&;ix:nonFraction contextRef', max_size=80))
def test_broken_markup_never_raises(markup: str) -> None:
    root = etree.HTML(f"<html><body>{markup}{figure()}</body></html>")
    assert all(tag.value is None or tag.value.is_finite() for tag in read_tags(root).tags)
