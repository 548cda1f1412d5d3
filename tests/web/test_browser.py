"""The workspace in a real Chromium: what people do with it (`make test-browser`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.models.openai_server.exchange import ChatRequest, Reply, Said, ToolCall
from tests.models.openai_server.server import KEY, OpenAIServer
from tests.web.conftest import INCOME, MOST_MILLISECONDS, SAMPLES, Server, Watched, ask

WHERE_IS_RED = """async () => {
  const image = document.querySelector("#proof img");
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  const drawing = canvas.getContext("2d");
  drawing.drawImage(image, 0, 0);
  const { data } = drawing.getImageData(0, 0, canvas.width, canvas.height);
  let [left, top, right, bottom] = [1e9, 1e9, -1, -1];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] < 190 || data[at + 1] > 90 || data[at + 2] > 100) continue;
    const x = (at / 4) % canvas.width, y = Math.floor(at / 4 / canvas.width);
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  return [left, top, right, bottom].map((side) => side / canvas.width);
}"""
"""The red frame in pixels of the picture, as shares of its width."""


def frame_and_word(page: Any, page_number: int, printed: str) -> tuple[list[float], tuple[float, ...]]:
    """The frame in the browser, and the word in the text layer of the file, both in points."""
    pymupdf = pytest.importorskip("pymupdf")
    with pymupdf.open(SAMPLES / "harborlight_2023_10k.pdf") as document:
        sheet = document[page_number - 1]
        word = next(each for each in sheet.get_text("words") if each[4] == printed)
        return [side * sheet.rect.width for side in page.evaluate(WHERE_IS_RED)], word


def test_a_figure_leads_to_its_frame_on_the_page(page: Any) -> None:
    turn = ask(page, INCOME)
    assert "$544 million" in turn.locator(".sentence").inner_text()
    turn.locator("a.figure").first.click()
    page.locator("#proof img").wait_for()
    assert page.locator("#proof .row-column").inner_text().split("\n")[1] == "Net income"
    assert "printed as 8" in page.locator("#proof").inner_text()
    (x0, y0, x1, y1), word = frame_and_word(page, 9, "544")
    middle = ((word[0] + word[2]) / 2, (word[1] + word[3]) / 2)
    assert x0 < middle[0] < x1 and y0 < middle[1] < y1
    assert x0 <= word[0] and word[2] <= x1 + 1
    assert y1 - y0 < 20  # one line


def test_the_page_is_turned_enlarged_and_found_at_edgar(page: Any) -> None:
    ask(page, INCOME).locator("a.figure").first.click()
    image = page.locator("#proof img")
    image.wait_for()
    width = image.bounding_box()["width"]
    page.get_by_label("Larger (+)").click()
    assert image.bounding_box()["width"] == pytest.approx(width * 1.25, rel=0.02)
    edgar = page.locator("#proof a >> text=open at EDGAR")
    assert edgar.get_attribute("href").startswith(
        "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&filenum=001-90417"
    )
    assert "noopener" in edgar.get_attribute("rel")
    for label, shown in (("Next page (])", "Page 10 of 17"), ("Page before ([)", "Page 9 of 17")):
        page.get_by_label(label).click()
        page.locator(f"#proof >> text={shown}").wait_for()
    page.locator(".page-figures summary").click()
    page.locator(".page-figures button", has_text="Net income").first.click()
    page.locator("#proof .row-column >> text=Net income").wait_for()


MIDDLE_OF_FRAME = f"""async () => {{
  const [left, top, right, bottom] = await ({WHERE_IS_RED})();
  const image = document.querySelector("#proof img");
  const sheet = document.querySelector("#proof .sheet").getBoundingClientRect();
  const seen = image.getBoundingClientRect();
  const x = seen.left + ((left + right) / 2) * seen.width, y = seen.top + ((top + bottom) / 2) * seen.width;
  return x > sheet.left && x < sheet.right && y > sheet.top && y < sheet.bottom;
}}"""
"""Whether the middle of the frame can be seen."""


def test_the_frame_stays_in_sight_however_large_the_page(page: Any) -> None:
    ask(page, INCOME).locator("a.figure").first.click()
    page.locator("#proof img").wait_for()
    assert page.evaluate(MIDDLE_OF_FRAME)
    for step, times in (("Larger (+)", 4), ("Smaller (-)", 6)):
        for _ in range(times):
            page.get_by_label(step).click()
            assert page.evaluate(MIDDLE_OF_FRAME)


def test_variables_of_the_program_and_lines_of_the_ledger_lead_to_their_pages(page: Any) -> None:
    turn = ask(page, "What was Harborlight's gross margin in FY2023?")
    turn.get_by_text("Program", exact=True).click()
    variable = turn.locator(".program a.figure", has_text="gross_profit_fy2023")
    variable.click()
    page.locator("#proof .row-column >> text=Gross profit").wait_for()
    turn.get_by_text("Ledger (").click()
    assert turn.locator(".ledger li.filled").count() >= 2
    refused = ask(page, "What did Harborlight spend on goodwill impairment in FY2023?")
    refused.get_by_text("Ledger (").click()
    assert "missing" in refused.locator(".ledger li.empty").first.inner_text()


def test_every_chip_of_the_reading_can_be_changed_and_asked_again(page: Any) -> None:
    turn = ask(page, INCOME)
    turn.locator(".reading summary").click()
    turn.locator(".word").first.wait_for()
    assert turn.locator(".word").all_inner_texts() == ["Harborlight", "net income", "FY2023"]
    sent: list[dict[str, Any]] = []
    page.on("request", lambda request: sent.append(request.post_data_json) if request.url.endswith("/chat") else None)
    turn.locator(".chip.period select").first.select_option("FY2022")
    turn.locator(".chip.measure input").fill("revenue")
    company = turn.locator(".chip.company input")
    company.fill("Nobody Inc.")
    company.press("Tab")
    assert company.evaluate("field => field.validationMessage") == "Choose a company that is indexed"
    company.fill("Tellurond Semiconductor Corporation")
    with page.expect_response("**/choices?*"):
        company.press("Tab")
    turn.locator(".chip.unit select").select_option("USD thousands")
    turn.get_by_label("Add a part").click()
    part = turn.locator(".chip.part input")
    part.fill("Data Center")
    part.press("Tab")
    turn.get_by_text("Ask it so").click()
    again = page.locator(".turn").nth(1)
    again.locator(".answer").wait_for()
    query = sent[-1]["query"]
    assert query["measures"][0]["metric"] == "revenue" and query["parts"]["names"] == ["Data Center"]
    assert again.locator(".asked").inner_text() == (
        "What was Tellurond Semiconductor Corporation's revenue in FY2022 of Data Center, in USD thousands?"
    )
    assert "Data Center" in again.locator(".sentence").inner_text() and "thousand" in again.inner_text()


def test_words_that_are_not_understood_are_marked_and_can_be_left_out(page: Any) -> None:
    turn = ask(page, "What was Harborlight's wobbly frobnication ratio in FY2023?")
    assert "Not answered" in turn.inner_text() and "frobnication" in turn.locator(".missing").inner_text()
    turn = ask(page, "Did Harborlight's revenue exceed $3 billion in each year from 2022 to 2023?")
    turn.locator(".reading summary").click()
    assert "in each year" in turn.locator(".chip.unread").inner_text()
    turn.get_by_label("Leave out in each year").click()
    turn.get_by_text("Ask it so").click()
    again = page.locator(".turn").nth(2)
    again.locator(".answer").wait_for()
    assert "Not answered" not in again.inner_text()


def test_a_conversation_of_five_turns_survives_a_reload(page: Any) -> None:
    for message in (INCOME, "and in 2022?", "as a percentage of revenue?", "where is that?", "thanks"):
        turn = ask(page, message)
    assert "You are welcome" in turn.inner_text()
    page.reload()
    page.locator(".turn").nth(4).wait_for()
    assert "14.2%" in page.locator(".turn").nth(2).inner_text()


NOBODY_NAMED = "What was net income in FY2023?"


def test_what_is_asked_back_is_shown_and_its_answer_brings_the_figure(browser: Any, server: Server) -> None:
    pytest.importorskip("langchain_openai", reason="needs the extra `chat`")

    def assistant(request: ChatRequest) -> Said:
        """Asks what it was told, and says what the tool does."""
        said = request.messages[-1]
        if said["role"] == "tool":
            return "Whose do you mean?" if "Ask the person" in str(said["content"]) else "It was $544 million."
        question = INCOME if "Harborlight" in str(said["content"]) else NOBODY_NAMED
        return Reply(tool_calls=(ToolCall("answer_question", {"question": question}),))

    model = OpenAIServer(assistant)
    asking = Server(server.folder, "--model", "openai:gpt-4o", "--base-url", model.url, OPENAI_API_KEY=KEY)
    watched = Watched(browser)
    try:
        page = watched.page(asking.address)
        card = ask(page, NOBODY_NAMED).locator("section.answer.refused")
        told = card.inner_text()
        assert "Tellurond Semiconductor Corporation; Harborlight Instruments, Inc.?" in told
        assert "Reply with what you mean" in told and "Not answered" not in told
        turn = ask(page, "Harborlight")
        assert "It was $544 million." in turn.inner_text()
        assert "$544 million" in turn.locator("section.answer .sentence").inner_text()
        turn.locator("a.figure").first.click()
        page.locator("#proof .row-column >> text=Net income").wait_for()
        watched.close(asking.address)
    finally:
        asking.stop()
        model.close()


def test_filings_are_added_by_choice_and_by_drop_broken_ones_with_a_remedy(page: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing of it")
    page.click("nav >> text=Filings")
    page.set_input_files("#files", [str(broken), str(SAMPLES / "quillmark_2023_10k.pdf")])
    page.locator(".queue .failed").wait_for()
    page.locator(".queue .done").wait_for()
    told = page.locator(".queue .failed").inner_text()
    assert "Not read" in told and len(told.splitlines()) > 2  # the reason, and what to do
    page.locator("table.filings >> text=Quillmark").first.wait_for()
    page.get_by_label("Filter by company").fill("quillm")
    assert page.locator("table.filings tbody tr").count() == 1
    dropped = page.evaluate_handle(
        """() => {
          const files = new DataTransfer();
          files.items.add(new File(["%PDF-1.4 cut off"], "cut off.pdf"));
          return files;
        }"""
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": dropped})
    page.locator(".queue .failed", has_text="cut off.pdf").wait_for()
    page.click(".queue .done a >> nth=0")
    page.locator(".printed a.figure").first.click()
    page.locator("#proof img").wait_for()


def test_a_row_becomes_a_chart_whose_points_lead_to_pages(page: Any) -> None:
    page.goto(page.url.split("#")[0] + "#/filing/harborlight_2023_10k")
    page.click("a.row-label >> text=/^Net income$/")
    page.locator("svg.chart .point").first.wait_for()
    assert page.locator("svg.chart g.point").count() >= 3
    for name, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as kept:
            page.click(f".take >> text={name}")
        assert Path(kept.value.path()).read_bytes().startswith(begins)
    page.locator("svg.chart g.point").first.click()
    page.locator("#proof img").wait_for()
    page.get_by_label("Add a company").fill("Tellurond")
    page.click("text=Draw")
    page.locator(".legend li").nth(1).wait_for()
    assert page.locator(".legend li").first.inner_text().startswith("Harborlight")


def test_a_row_of_the_cash_flows_is_charted_and_not_the_balance_of_its_name(page: Any) -> None:
    page.goto(page.url.split("#")[0] + "#/filing/harborlight_2023_10k")
    flows = page.locator(".statement", has_text="Cash flow").last
    row = flows.locator("tr", has=page.locator("a.row-label >> text=/^Inventories$/"))
    printed = row.locator("td.number").first.inner_text().strip("()")
    row.locator("a.row-label").click()
    page.locator("svg.chart .point").first.wait_for()
    assert printed in page.locator("main table td.number a").last.inner_text()


def test_a_search_explains_its_scores(page: Any) -> None:
    page.click("nav >> text=Search")
    page.fill("input[type=search]", "Harborlight net income")
    page.keyboard.press("Enter")
    first = page.locator(".found > li").first
    first.locator(".made-of summary").click()
    shares = [float(each) for each in first.locator(".made-of tbody tr:not(.total) td.number").all_inner_texts()]
    assert len(shares) > 3
    assert sum(shares) == pytest.approx(float(first.locator(".made-of tr.total td.number").inner_text()), abs=0.01)


def test_runs_are_compared_and_replayed(page: Any) -> None:
    ask(page, INCOME)
    ask(page, "What was Harborlight's net income in FY2022?")
    page.click("nav >> text=Runs")
    for number in (0, 1):
        page.locator("table.runs input").nth(number).check()
    page.click("text=Compare two")
    page.locator(".difference").first.wait_for()
    assert "$544 million" in page.inner_text("main") and "$474 million" in page.inner_text("main")
    page.click(".beside h2 a >> nth=0")
    page.click("text=Replay")
    page.locator("text=The same answer and the same trace again.").wait_for()


@pytest.mark.parametrize(
    ("name", "begins"), [("CSV", b'\xef\xbb\xbf"question"'), ("Report", b"<!doctype html>"), ("Excel", b"PK")]
)
def test_an_answer_is_taken_away(page: Any, name: str, begins: bytes) -> None:
    if name == "Excel":
        pytest.importorskip("xlsxwriter", reason="needs the extra `excel`")
    turn = ask(page, INCOME)
    with page.expect_download() as kept:
        turn.locator(f"footer >> text={name}").click()
    path = Path(kept.value.path())
    assert path.read_bytes().startswith(begins)
    if name == "Report":
        report = page.context.new_page()
        asked: list[str] = []
        report.on("request", lambda request: asked.append(request.url))
        report.set_content(path.read_text())
        report.locator("figure img").wait_for()
        assert report.locator("figure img").evaluate("image => image.naturalWidth") > 500
        assert all(url.startswith("data:") for url in asked)
    elif name == "Excel":
        assert any("comments" in each for each in ZipFile(path).namelist())


def test_a_statement_is_taken_away_as_a_workbook(page: Any) -> None:
    pytest.importorskip("xlsxwriter", reason="needs the extra `excel`")
    page.goto(page.url.split("#")[0] + "#/filing/harborlight_2023_10k")
    with page.expect_download() as kept:
        page.locator(".statement >> text=Excel").first.click()
    assert kept.value.suggested_filename.startswith("harborlight_2023_10k-")
    assert Path(kept.value.path()).read_bytes().startswith(b"PK")


def test_from_nothing_to_a_proven_answer(browser: Any, tmp_path: Path) -> None:
    server = Server(tmp_path / "index", named=False)
    try:
        page = browser.new_page()
        page.set_default_timeout(MOST_MILLISECONDS)
        page.goto(server.address)
        page.locator("text=No filing yet").wait_for()
        page.click("text=Add filings")
        page.set_input_files("#files", str(SAMPLES / "harborlight_2023_10k.pdf"))
        page.click(".queue .done >> text=Ask about it")
        ask(page, INCOME).locator("a.figure").first.click()
        page.locator("#proof img").wait_for()
        page.close()
    finally:
        server.stop()


def test_two_tabs_do_not_disturb_each_other(page: Any, server: Server) -> None:
    other = page.context.new_page()
    other.goto(server.address)
    other.locator(".welcome").wait_for()
    ask(page, INCOME)
    assert "$474 million" in ask(other, "What was Harborlight's net income in FY2022?").inner_text()
    assert "$544 million" in page.inner_text(".turns") and "$474 million" not in page.inner_text(".sentence")


def test_keys_alone_lead_to_a_page_and_back(page: Any) -> None:
    ask(page, INCOME)
    page.locator("a.figure").first.focus()
    page.keyboard.press("Enter")
    page.locator("#proof img").wait_for()
    page.keyboard.press("]")
    page.locator("#proof >> text=Page 10 of 17").wait_for()
    at = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(at) == "The page"
    for _ in range(10):
        if page.evaluate(at) == "Next page (])":
            break
        page.keyboard.press("Shift+Tab")
    for number in (11, 12):  # and is at the same control again, once the page is there
        page.keyboard.press("Enter")
        page.locator(f"#proof >> text=Page {number} of 17").wait_for()
        assert page.evaluate(at) == "Next page (])"
    page.keyboard.press("Escape")
    assert page.locator("#proof").is_hidden()
    assert page.evaluate("document.activeElement.className").startswith("figure")
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.locator("h1 >> text=Filings").wait_for()


VIEWS = {
    f"ask?q={INCOME[:-1]}%3F": ".answer",
    "ask": ".welcome",
    "filings": "table.filings",
    "filing/harborlight_2023_10k": "table.printed",
    "search?q=net income": ".found",
    "chart?phrase=net+income&company=Harborlight": "svg.chart",
    "runs": "table.runs",
    "settings": ".keys",
}


@pytest.mark.parametrize("width", [1440, 390])
def test_no_view_has_a_serious_fault(browser: Any, server: Server, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="looks for barriers").Axe()
    for colours in ("light", "dark"):
        context = browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=colours, bypass_csp=True, reduced_motion="reduce"
        )
        page = context.new_page()
        for view, shown in VIEWS.items():
            page.goto(f"{server.address}/#/{view}")
            page.locator(shown).first.wait_for()
            if shown == ".answer":
                page.locator(".reading summary").click()
                page.locator(".chips").wait_for()
            found = [each for each in axe.run(page).response["violations"] if each["impact"] in ("serious", "critical")]
            told = [(each["id"], each["nodes"][0]["html"][:200]) for each in found]
            assert not found, (view, colours, json.dumps(told))
            assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        context.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_report_has_no_serious_fault(browser: Any, page: Any, colours: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="looks for barriers").Axe()
    turn = ask(page, "What was Harborlight's gross margin in FY2023?")
    with page.expect_download() as kept:
        turn.locator("footer >> text=Report").click()
    context = browser.new_context(color_scheme=colours, bypass_csp=True)
    report = context.new_page()
    report.set_content(Path(kept.value.path()).read_text())
    report.locator("figure img").wait_for()
    dark = report.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (colours == "dark")
    found = [each for each in axe.run(report).response["violations"] if each["impact"] in ("serious", "critical")]
    assert not found, json.dumps([(each["id"], each["nodes"][0]["html"][:200]) for each in found])
    context.close()
