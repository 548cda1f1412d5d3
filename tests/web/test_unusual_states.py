"""States of the workspace that nobody wishes for, each with what it says: empty, broken off, written to, removed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fin_agent.index.ingest import ingest
from fin_agent.index.ingest_lock import ingest_lock
from fin_agent.testing import ModelCall
from tests.graphs.told_by_model import QUESTION, sound
from tests.models.openai_server.exchange import ChatRequest, Reply, Said, Stalled, ToolCall
from tests.models.openai_server.server import KEY, OpenAIServer
from tests.prompt_roles import role_of
from tests.web.conftest import INCOME, SAMPLES, Server, Watched, ask


def test_no_filing_and_an_index_that_is_written_to(browser: Any, tmp_path: Path) -> None:
    server = Server(tmp_path / "index", named=False)
    watched = Watched(browser)
    try:
        page = watched.page(server.address)
        page.locator("text=No filing yet").wait_for()
        page.click("text=Add filings")
        page.locator("text=No filing is indexed yet. Drop one above.").wait_for()
        assert page.locator(".writing").is_hidden()
        for view, told in (
            ("search?q=net income", "No page holds this."),
            ("chart?phrase=revenue&company=Acme", "does not clearly name an indexed company"),
            ("runs", "Nothing was asked yet."),
            ("filing/acme_2023", "acme_2023"),
        ):
            page.goto(f"{server.address}/#/{view}")
            page.locator("main", has_text=re.compile(re.escape(told), re.I)).wait_for()
        with ingest_lock(tmp_path / "index"):
            page.goto(f"{server.address}/#/filings")
            page.locator("text=The index is being written").wait_for()
            assert "No filing is indexed yet" in page.inner_text("main")
        ingest([SAMPLES / "tellurond_2023_10k.pdf"], tmp_path / "index", workers=0)
        page.locator("table.filings >> text=Tellurond").first.wait_for()  # by itself
        page.locator(".writing").wait_for(state="hidden")
        watched.close(server.address)
    finally:
        server.stop()


def test_a_filing_that_is_removed_while_it_is_open(page: Any, server: Server, tmp_path: Path) -> None:
    file = tmp_path / "taken_away.pdf"
    file.write_bytes((SAMPLES / "quillmark_2022_10k.pdf").read_bytes())
    ingest([file], server.folder, workers=0)
    page.goto(f"{server.address}/#/filing/taken_away")
    page.locator(".printed a.figure").first.wait_for()
    main = "from fin_agent.cli import main; main()"
    removing = [sys.executable, "-c", main, "remove", "taken_away", "--index", str(server.folder)]
    subprocess.run(removing, check=True, capture_output=True)
    page.locator(".printed a.figure").first.click()
    page.locator("#proof .problem").wait_for()
    assert "taken_away" in page.inner_text("#proof .problem")
    page.click("role=tab >> text=Checks")
    page.locator("main .problem").wait_for()
    page.click("nav >> text=Filings")
    page.locator("table.filings").wait_for()
    assert "taken_away" not in page.inner_text("table.filings")


def test_a_reload_in_mid_answer_says_so_and_asks_again(page: Any) -> None:
    page.route("**/chat", lambda route: None)
    page.fill("textarea", INCOME)
    page.keyboard.press("Enter")
    page.locator(".working").wait_for()
    asked_to_stay: list[str] = []
    page.on("dialog", lambda dialog: asked_to_stay.append(dialog.type))
    page.reload()
    assert asked_to_stay == ["beforeunload"]
    page.locator("text=This got no answer").wait_for()
    page.unroute("**/chat")
    page.click("text=Ask it again")
    page.locator(".turn .answer").wait_for()


class Model:
    """A chat model behind the protocol of OpenAI that writes half of an answer, and goes on when it is let."""

    def __init__(self) -> None:
        self.server = OpenAIServer(self.reply)
        self.seconds = 0.0
        self.halved = threading.Event()

    def reply(self, request: ChatRequest) -> Said:
        if request.body.get("tools"):
            messages = request.body["messages"]
            assert isinstance(messages, list) and isinstance(messages[-1], dict)
            if messages[-1]["role"] == "tool":
                return "The filing tells who will retire."
            return Reply(tool_calls=(ToolCall("answer_question", {"question": QUESTION}),))
        from langchain_core.messages import convert_to_messages

        read = convert_to_messages([(str(each["role"]), str(each["content"])) for each in request.messages])
        role = role_of(request.text)
        reply = Reply(content=json.dumps(dict(sorted(sound(ModelCall(tuple(read), role, {})).items()))))
        return Stalled(reply, self.seconds) if role == "reasoning" and self.seconds else reply


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    pytest.importorskip("langchain_openai", reason="needs the extra `chat`")
    model = Model()
    yield model
    model.server.close()


@pytest.fixture(scope="module")
def with_model(browser: Any, model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a chat model behind it, and more to choose from."""
    folder = tmp_path_factory.mktemp("with-model")
    ingest([SAMPLES / "tellurond_2024_10k.pdf"], folder, workers=0)
    other = tmp_path_factory.mktemp("with-model")
    ingest([SAMPLES / "harborlight_2024_8k.pdf"], other, workers=0)
    options = ("--model", "openai:gpt-4o", "--base-url", model.server.url)
    options += ("--offer-model", "openai:gpt-4o-mini", "--offer-index", str(folder), "--offer-index", str(other))
    server = Server(folder, *options, OPENAI_API_KEY=KEY)
    yield server
    server.stop()


@pytest.fixture
def beside_model(browser: Any, with_model: Server) -> Iterator[Any]:
    watched = Watched(browser)
    yield watched.page(with_model.address)
    watched.close(with_model.address)


def test_a_draft_is_marked_as_one_and_the_answer_takes_its_place(beside_model: Any, model: Model) -> None:
    page, model.seconds = beside_model, 2.0
    page.fill("textarea", QUESTION)
    page.keyboard.press("Enter")
    page.locator(".draft >> text=draft, not checked yet").wait_for()
    assert "The filing tells it so" in page.inner_text(".draft")
    page.locator(".turn .answer").first.wait_for()
    assert page.locator(".draft").count() == 0
    page.reload()
    page.locator(".turn .answer").first.wait_for()
    assert KEY not in page.content()


def test_an_answer_that_is_not_looked_at_is_told_of(beside_model: Any, model: Model) -> None:
    page, model.seconds = beside_model, 4.0
    page.fill("textarea", QUESTION)
    page.keyboard.press("Enter")
    page.locator(".draft p >> nth=1").wait_for()
    page.click("nav >> text=Filings")
    page.locator("#running >> text=answering").wait_for()
    page.locator("#told >> text=Answered").wait_for()
    assert page.locator("#proof").is_hidden() and page.locator("#running a").count() == 0
    page.click("#told a")
    page.locator(".turn .answer").first.wait_for()
    assert page.locator(".turn").count() == 1


def test_two_tabs_that_ask_in_one_conversation_at_once_are_both_answered(beside_model: Any, model: Model) -> None:
    page, model.seconds = beside_model, 4.0
    page.locator(".welcome").wait_for()
    other = page.context.new_page()
    other.goto(page.url)
    other.locator(".welcome").wait_for()
    page.fill("textarea", QUESTION)
    page.keyboard.press("Enter")
    page.locator(".draft p >> nth=1").wait_for()
    other.fill("textarea", "What was Tellurond's revenue in FY2024?")
    other.keyboard.press("Enter")
    other.locator(".doing >> text=waiting for another message of this conversation").wait_for()
    page.locator(".turn .answer").first.wait_for()
    other.locator("text=went on in another tab").wait_for()
    assert other.locator(".turn").count() == 2 and other.locator(".turn .problem").count() == 0
    page.reload()
    page.locator(".turn").nth(1).wait_for()


def test_a_run_is_stopped_and_nothing_of_it_is_kept(beside_model: Any, model: Model) -> None:
    page, model.seconds = beside_model, 30.0
    page.fill("textarea", QUESTION)
    page.keyboard.press("Enter")
    page.locator(".draft p >> nth=1").wait_for()
    page.click(".composer button.stop")
    page.locator("text=Stopped. Nothing of it is kept.").wait_for()
    asked = len(model.server.requests)
    page.reload()
    page.locator(".welcome, .interrupted").wait_for()  # the call under way ends by itself
    assert page.locator(".turn .answer").count() == 0 and len(model.server.requests) == asked


def test_a_server_that_is_restarted_in_mid_answer(beside_model: Any, model: Model, with_model: Server) -> None:
    page, model.seconds = beside_model, 30.0
    page.fill("textarea", QUESTION)
    page.keyboard.press("Enter")
    page.locator(".draft p >> nth=1").wait_for()
    with_model.stop()
    page.locator("text=The server broke off in mid-answer").wait_for()
    model.seconds = 0.0
    with_model.restart()
    page.click("text=Try again")
    page.locator(".turn .answer").first.wait_for()
    assert page.locator(".turn").count() == 1


def test_questions_of_a_tab_are_asked_as_its_settings_say(beside_model: Any, model: Model, with_model: Server) -> None:
    page, model.seconds = beside_model, 0.0
    page.click("nav >> text=Settings")
    page.get_by_label("Who reasons").select_option("rules")
    page.get_by_label("Dollars").fill("0.05")
    page.click("text=Use these")
    assert KEY not in page.content()
    asked = len(model.server.requests)
    page.click("nav >> text=Ask")
    ask(page, "What was Tellurond's revenue in FY2024?")
    assert len(model.server.requests) == asked  # rules alone
    page.click("nav >> text=Settings")
    assert page.get_by_label("Who reasons").input_value() == "rules"
    page.get_by_role("button", name="As the server was started").click()
    page.locator("#set-model option:checked[value='openai:gpt-4o']").wait_for(state="attached")
    assert page.locator("#set-model option").count() == 3 and page.locator("#set-prefix option").count() == 3
    page.locator("#set-prefix").select_option(index=2)
    page.click("text=Use these")
    page.click("nav >> text=Filings")
    page.locator("table.filings .id >> text=harborlight_2024_8k").wait_for()
    assert "tellurond" not in page.inner_text("table.filings")
