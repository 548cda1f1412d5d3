// A conversation: messages, the steps of an answer as they happen, stop, history, and what was interrupted.

import { call, chosen, events, get, part } from "./api.js";
import { answerCard, openFirst } from "./answer.js";
import { capital, fill, h, plural, problem, tell } from "./dom.js";

const STEPS = [
  ["rewrite_query", "read"],
  ["search_documents", "filings"],
  ["search_pages", "pages"],
  ["search_passages", "passages"],
  ["extract_cards", "cards"],
  ["filter_passages", "filter"],
  ["check_answerability", "enough?"],
  ["ask_complementary_question", "ask on"],
  ["answer_with_program", "compute"],
  ["answer_with_reasoning", "reason"],
  ["verify_answer", "verify"],
];
const PENDING = "fin-agent-pending"; // thread -> the message that has no answer yet, kept over a reload
const running = new Map(); // thread -> { controller, node, message, ask, button }: goes on while another view is looked at
const here = (thread) => location.hash.startsWith(`#/ask/${part(thread)}`);

const pendingMessages = () => JSON.parse(sessionStorage.getItem(PENDING) ?? "{}");
function setPending(thread, message) {
  const { [thread]: _, ...others } = pendingMessages();
  sessionStorage.setItem(PENDING, JSON.stringify(message ? { ...others, [thread]: message } : others));
}

addEventListener("beforeunload", (event) => running.size && event.preventDefault()); // the answer would be left: the browser asks
addEventListener("hashchange", showRunning);

/** What is being answered in conversations that are not looked at, in the bar above all views. */
function showRunning() {
  const elsewhere = [...running].filter(([thread]) => !here(thread));
  fill(document.getElementById("running"), elsewhere.map(([thread, { message }]) => h("a", { href: `#/ask/${part(thread)}`, title: message }, "answering …")));
}

export async function render(content, [name], query) {
  const thread = name || newName();
  if (!name) history.replaceState(null, "", `#/ask/${thread}${query.size ? `?${query}` : ""}`);
  const turns = h("div", { class: "turns" });
  const field = h("textarea", { rows: "1", placeholder: "Ask about a figure, a ratio, a comparison, a reason …", "aria-label": "Question", maxlength: "2000", spellcheck: "false" });
  const button = h("button", { class: "primary", "aria-label": "Ask" }, "Ask");
  const form = h("form", { class: "composer" }, field, button);
  const past = h("details", { class: "history" }, h("summary", {}, "Conversations"), h("ul", {}));
  fill(content, h("div", { class: "ask-head" }, h("h1", {}, "Ask"), h("a", { class: "button", href: `#/ask/${newName()}` }, "New conversation"), past), turns, form);

  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, 200)}px`;
  };
  const kept = Promise.all([get(`/threads/${part(thread)}`), get("/workspace")]);
  const ask = async (message, query = null) => {
    const asked = message.trim();
    await kept; // what was said before stands above
    if (!asked || running.has(thread)) return;
    turns.querySelector(".welcome, .interrupted")?.remove();
    field.value = "";
    grow();
    return take({ message: asked, query }, thread, turns, ask, button);
  };
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      ask(field.value);
    } else if (event.key === "ArrowUp" && !field.value) {
      const last = [...turns.querySelectorAll(".asked")].pop();
      if (last) field.value = last.textContent;
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (running.has(thread)) running.get(thread).controller.abort();
    else ask(field.value);
  });
  past.addEventListener("toggle", () => past.open && listThreads(past.querySelector("ul"), thread));

  const [said, workspace] = await kept;
  if (running.has(thread)) {
    fill(turns, said.turns.map((turn) => turnShown(turn, ask)), running.get(thread).node);
    Object.assign(running.get(thread), { ask, button });
    busy(button, true);
  } else {
    fill(turns, said.turns.map((turn) => turnShown(turn, ask)));
    const pending = pendingMessages()[thread] ?? "";
    const interrupted = said.unanswered || (said.turns.at(-1)?.asked !== pending ? pending : "");
    if (interrupted) turns.append(interruptedNote(interrupted, ask));
    else if (!said.turns.length) turns.append(welcome(workspace, ask));
  }
  turns.lastElementChild?.scrollIntoView({ block: "end" });
  if (innerWidth > 700) field.focus({ preventScroll: true });
  if (query.get("q")) {
    history.replaceState(null, "", `#/ask/${thread}`);
    const edited = JSON.parse(sessionStorage.getItem("fin-agent-edited") ?? "null"); // a reading, changed where a run is shown
    sessionStorage.removeItem("fin-agent-edited");
    ask(query.get("q"), edited?.question === query.get("q") ? edited : null);
  }
}

/** What of the settings goes with each question. */
function questionSettings() {
  const { model, preset, budget } = chosen();
  return { model, preset, budget };
}

const newName = () => `web-${Date.now().toString(36)}${Math.floor(Math.random() * 1296).toString(36)}`;

function welcome(workspace, ask) {
  if (!workspace.filings) {
    return h("div", { class: "welcome" }, h("h2", {}, "No filing yet"), h("p", {}, "Add a 10-K, 10-Q or another filing as PDF or HTML, then ask about it."), h("a", { class: "button primary", href: "#/filings" }, "Add filings"));
  }
  const { company, year } = workspace.example;
  const examples = [`What was ${company}'s net income in FY${year}?`, `How much did ${company}'s revenue grow in FY${year}?`, `What was ${company}'s operating margin in FY${year}?`];
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "What do you want to know?"),
    h("p", {}, `${plural(workspace.filings, "filing")} of ${workspace.companies === 1 ? "one company" : `${workspace.companies} companies`} ${workspace.filings === 1 ? "is" : "are"} indexed. Every figure of an answer leads to the page it stands on.`),
    h("ul", { class: "examples" }, examples.map((each) => h("li", {}, h("button", { type: "button", onclick: () => ask(each) }, each)))),
  );
}

function interruptedNote(message, ask) {
  return h("div", { class: "interrupted problem" }, h("p", {}, h("strong", {}, "This got no answer: "), message), h("p", {}, "The page was reloaded, or the server stopped, in mid-answer."), h("button", { type: "button", onclick: () => ask(message) }, "Ask it again"));
}

async function listThreads(list, current) {
  try {
    const { threads } = await get("/threads");
    fill(list, threads.length ? threads.map((each) => h("li", {}, h("a", { href: `#/ask/${part(each.name)}`, "aria-current": each.name === current && "page" }, each.title || each.name), h("span", { class: "hint" }, `${each.turns} turn${each.turns === 1 ? "" : "s"}`), h("button", { type: "button", class: "quiet", "aria-label": `Forget: ${each.title}`, onclick: async (event) => {
      const row = event.currentTarget.closest("li");
      await call(`/threads/${part(each.name)}`, { method: "DELETE" });
      row.remove();
    } }, "✕"))) : h("li", { class: "hint" }, "None yet"));
  } catch (error) {
    fill(list, h("li", {}, problem(error)));
  }
}

function turnShown(turn, ask) {
  return h("article", { class: "turn" }, h("p", { class: "asked" }, turn.asked), replied(turn, ask));
}

function replied(turn, ask) {
  const whole = turn.question && turn.question !== turn.asked ? h("p", { class: "hint" }, `Read as: ${turn.question}`) : null;
  if (!turn.answers.length || turn.by_model) {
    return [whole, h("div", { class: "answer" }, h("p", { class: "sentence talk" }, turn.said), turn.warnings.map((each) => h("p", { class: "note warning" }, each))), turn.answers.map((answer) => answerCard(answer, ask))];
  }
  return [whole, turn.answers.map((answer) => answerCard(answer, ask))];
}

function busy(button, working) {
  button.textContent = working ? "Stop" : "Ask";
  button.setAttribute("aria-label", button.textContent);
  button.classList.toggle("stop", working);
}

/** Ask, and show what happens. */
async function take({ message, query }, thread, turns, ask, button) {
  const steps = h("ol", { class: "steps", "aria-label": "Steps" }, STEPS.map(([node, name]) => h("li", { "data-node": node }, name)));
  const doing = h("p", { class: "hint doing", role: "status" }, "Reading the question …");
  const draft = h("div", { class: "draft", hidden: true }, h("p", { class: "badge" }, "draft, not checked yet"), h("p", {}));
  const body = h("div", { class: "working" }, steps, doing, draft);
  const asked = h("p", { class: "asked" }, message);
  const node = h("article", { class: "turn" }, asked, body);
  const controller = new AbortController();
  const run = { controller, node, message, ask, button };
  running.set(thread, run);
  setPending(thread, message);
  turns.append(node);
  busy(button, true);
  body.scrollIntoView({ block: "end", behavior: "smooth" });
  const started = performance.now();
  const clock = setInterval(() => (doing.dataset.seconds = `${Math.round((performance.now() - started) / 1000)} s`), 1000);
  try {
    let turn = null, count = 0;
    for await (const [kind, told] of events("/chat", { message, thread, query, settings: questionSettings() }, controller.signal)) {
      if (kind === "replied") [turn, count] = [told.turn, told.turns];
      else if (kind === "failed") throw Object.assign(new Error(told.what), told);
      else happened(kind, told, steps, doing, draft);
    }
    if (!turn) throw Object.assign(new Error("broken off"), { what: "the answer broke off", remedy: "Ask again: the conversation before is kept" });
    asked.textContent = turn.asked;
    fill(body, replied(turn, run.ask));
    body.className = "";
    if (!here(thread)) {
      tell(["Answered: ", h("a", { href: `#/ask/${part(thread)}` }, turn.asked)], "answered");
      return;
    }
    if (count > node.parentElement.querySelectorAll(".turn:not(.failed)").length) await othersShown(thread, node, run.ask);
    node.scrollIntoView({ block: "start", behavior: "smooth" });
    if (turn.answers.length) openFirst(turn.answers.at(-1));
  } catch (error) {
    const again = () => (node.remove(), run.ask(message, query));
    fill(body, error.name === "AbortError" ? h("p", { class: "note" }, "Stopped. Nothing of it is kept. ", h("button", { type: "button", onclick: again }, "Ask again")) : problem(error, again));
    body.className = "";
    node.classList.add("failed");
    if (!here(thread) && error.name !== "AbortError") tell(["Not answered: ", h("a", { href: `#/ask/${part(thread)}` }, message), `. ${capital(error.what ?? error.message)}`], "bad");
  } finally {
    clearInterval(clock);
    running.delete(thread);
    setPending(thread, "");
    busy(run.button, false);
    showRunning();
  }
}

/** The turns that another tab took in this conversation, above the one that has just ended here. */
async function othersShown(thread, node, ask) {
  const { turns } = await get(`/threads/${part(thread)}`);
  const before = turns.slice(0, -1).map((turn) => turnShown(turn, ask));
  node.parentElement.replaceChildren(...before, h("p", { class: "note" }, "The conversation went on in another tab: what was said there stands above."), node);
}

/** Light the node at work, tell what it found, show a draft as one. */
function happened(kind, told, steps, doing, draft) {
  const step = told.node && steps.querySelector(`[data-node="${told.node}"]`);
  if (kind === "step_begun") {
    for (const each of steps.querySelectorAll(".now")) each.classList.replace("now", "done");
    step?.classList.add("now");
    if (told.round > 1) steps.dataset.round = `round ${told.round}`;
    if (step) doing.textContent = `${capital(told.node.replaceAll("_", " "))}${told.round > 1 ? `, round ${told.round}` : ""} …`;
  } else if (kind === "step_ended") {
    step?.classList.replace("now", "done");
    if (step) step.title = told.summary;
  } else if (kind === "call_begun") {
    doing.textContent = `${capital(told.role)}: asking ${told.model} …`;
  } else if (kind === "draft") {
    draft.hidden = false;
    draft.lastElementChild.append(told.text);
  } else if (kind === "draft_withdrawn") {
    draft.hidden = true;
    draft.lastElementChild.replaceChildren();
  } else if (kind === "warned") {
    doing.textContent = capital(told.text);
    tell(told.text);
  }
}
