"""A hundred texts that would be markup, wherever a text of a filing, file, question or run stands on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from fin_agent.index.ingest import ingest
from tests.markup import HOSTILE_MARKUP
from tests.web.conftest import INCOME, SAMPLES, Server, Watched, ask

FILE = "<img src=x onerror=alert(1)> report"
COVER = """<html><body><p>CONSOLIDATED STATEMENTS OF INCOME</p><p>(In millions)</p>
<table><tr><td></td><td>December 31, 2023</td><td>December 31, 2022</td></tr>"""
TELLS_WHAT_IT_IS = frozenset({"kind", "node", "picture", "statement", "outcome", "started", "id", "key", "doc_id"})
"""Fields whose values are the server's own words, or name something in an address."""
STRANGE = """() => ({
  elements: [...document.querySelectorAll(
    "script, iframe, object, embed, base, style, form[action], meta[http-equiv]")]
    .map((each) => each.outerHTML).filter((each) => !each.includes("/static/app.js")),
  pictures: [...document.images].map((each) => each.src).filter((each) => !/^blob:|[/]static[/]icon.svg$/.test(each)),
  handlers: [...document.querySelectorAll("*")].flatMap((one) => one.getAttributeNames())
    .filter((name) => /^on/.test(name)),
  links: [...document.links].map((each) => each.href).filter((each) => !/^https?:/.test(each)),
})"""
NOTHING = {"elements": [], "pictures": [], "handlers": [], "links": []}


@pytest.fixture(scope="module")
def hostile(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("hostile")
    rows = "".join(
        f"<tr><td>{escape(text)}</td><td>{n + 7}</td><td>{n + 5}</td></tr>" for n, text in enumerate(HOSTILE_MARKUP)
    )
    file = folder / f"{FILE}.htm"
    file.write_text(f"{COVER}{rows}</table></body></html>".replace("\0", ""))
    ingest([file, SAMPLES / "harborlight_2023_10k.pdf"], folder / "index", workers=0)
    server = Server(folder / "index")
    yield server
    server.stop()


@pytest.fixture
def page(browser: Any, hostile: Server) -> Iterator[Any]:
    watched = Watched(browser)
    yield watched.page(hostile.address)
    watched.close(hostile.address)


def test_texts_of_a_filing_and_the_name_of_its_file_are_texts(page: Any) -> None:
    page.click("nav >> text=Filings")
    page.locator("table.filings .id", has_text=FILE).wait_for()
    page.locator("table.filings tr", has_text=FILE).locator("a").click()
    page.locator("h1", has_text=FILE).wait_for()
    page.click("role=tab >> text=Contents")
    page.locator(".contents, .empty").first.wait_for()
    page.goto(f"{page.url.split('?')[0]}?page=3")
    page.locator(".page-figures").wait_for()
    page.locator(".page-figures summary").click()
    listed = page.locator(".page-figures").inner_text()
    assert all(piece in listed for piece in ("<script>alert", "<svg/onload=alert", "<a href=javascript:alert"))
    page.goto(page.url.split("#")[0] + "#/search?q=alert onerror script")
    page.locator(".found mark").first.wait_for()
    assert page.evaluate(STRANGE) == NOTHING


def test_questions_conversations_and_runs_are_texts(page: Any) -> None:
    for text in HOSTILE_MARKUP[::12]:
        question = " ".join(text.replace("\0", "").split())
        turn = ask(page, question)
        assert turn.locator(".asked").inner_text().strip() == question
    page.reload()
    page.locator(".turn").first.wait_for()
    page.click("text=Conversations")
    page.locator(".history li a").first.wait_for()
    assert page.evaluate(STRANGE) == NOTHING
    page.click("nav >> text=Runs")
    page.locator("table.runs").wait_for()
    assert "<script>alert(1)</script>" in page.inner_text("table.runs")
    assert page.evaluate(STRANGE) == NOTHING


def test_whatever_the_server_says_is_a_text(page: Any, hostile: Server) -> None:
    """Every text of every reply holds one of the hundred, in turn."""
    texts, used = cycle(HOSTILE_MARKUP), set[str]()

    def spoilt(told: object, name: str = "") -> object:
        if isinstance(told, dict):
            return {key: spoilt(value, key) for key, value in told.items()}
        if isinstance(told, list):
            return [spoilt(each, name) for each in told]
        if isinstance(told, str) and name not in TELLS_WHAT_IT_IS:
            text = next(texts)
            used.add(text)
            return f"{told} {text}"
        return told

    def answered(route: Any) -> None:
        reply = route.fetch()
        kind = reply.headers.get("content-type", "")
        if "text/event-stream" in kind:
            lines = reply.text().split("\n")
            body = "\n".join(
                f"data: {json.dumps(spoilt(json.loads(line[6:])))}" if line.startswith("data: ") else line
                for line in lines
            )
            route.fulfill(response=reply, body=body)
        elif "json" in kind:
            route.fulfill(response=reply, body=json.dumps(spoilt(reply.json())))
        else:
            route.fulfill(response=reply)

    page.route(lambda url: "/static/" not in url, answered)
    page.goto("about:blank")
    for view, shown in (
        (f"ask?q={INCOME[:-1]}%3F", ".answer"),
        ("filings", "table.filings"),
        ("filing/harborlight_2023_10k", "table.printed"),
        ("filing/harborlight_2023_10k?tab=contents", ".contents"),
        ("filing/harborlight_2023_10k?tab=checks", ".checks"),
        ("search?q=Harborlight net income", ".found"),
        ("chart?phrase=net+income&company=Harborlight", "svg.chart"),
        ("runs", "table.runs"),
        ("settings", "table.settings"),
        ("filing/none", ".problem"),
    ):
        page.goto(f"{hostile.address}/#/{view}")
        page.locator(shown).first.wait_for()
        for summary in page.locator("main summary").all():
            summary.click()
        page.wait_for_load_state("networkidle")
        assert page.evaluate(STRANGE) == NOTHING, view
        told = page.inner_text("body")
        assert any(piece in told for piece in HOSTILE_MARKUP[:10]), view
    assert used == set(HOSTILE_MARKUP)


def test_a_link_may_name_anything(page: Any, hostile: Server) -> None:
    for text in HOSTILE_MARKUP[::7]:
        for view in ("filing/{}", "runs/{}", "search?q={}", "chart?phrase={}&company={}", "{}"):
            page.evaluate(
                "([view, text]) => location.hash = `#/${view.replaceAll('{}', encodeURIComponent(text))}`", [view, text]
            )
    page.evaluate("location.hash = '#/settings'")
    page.locator("h1 >> text=Settings").wait_for()
    assert page.evaluate(STRANGE) == NOTHING


def test_the_report_that_is_taken_away_holds_texts_alone(page: Any) -> None:
    turn = ask(page, "What was the <img src=x onerror=alert(1)> of Harborlight in FY2023?")
    with page.expect_download() as kept:
        turn.locator("footer >> text=Report").click()
    wrong: list[str] = []
    report = page.context.new_page()
    report.on("dialog", lambda dialog: wrong.append(dialog.message) or dialog.dismiss())
    report.set_content(Path(kept.value.path()).read_text())
    assert "<img src=x onerror=alert(1)>" in report.inner_text("h1") and report.locator("h1 img").count() == 0
    assert not wrong
