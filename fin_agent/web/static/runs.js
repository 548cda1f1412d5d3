// Runs that were recorded: list, open, ask again, two beside each other.

import { at, call, get, part } from "./api.js";
import { answerCard } from "./answer.js";
import { capital, fill, h, problem } from "./dom.js";

export async function render(content, [name], query) {
  if (name === "compare") return compare(content, query.get("first"), query.get("second"));
  if (name) return one(content, name);
  fill(content, h("h1", {}, "Runs"));
  let runs;
  try {
    ({ runs } = await get("/runs"));
  } catch (error) {
    content.append(problem(error));
    return;
  }
  if (!runs.length) {
    content.append(h("p", { class: "empty" }, "Nothing was asked yet. Every question that is answered here, or by `fin-agent ask`, is listed."));
    return;
  }
  const button = h("button", { class: "primary", disabled: true }, "Compare two");
  const form = h("form", {}, h("div", { class: "filters" }, button, h("span", { class: "hint" }, "Choose two runs to see what differs.")), table(runs));
  const picked = () => [...form.querySelectorAll("input:checked")].map((each) => each.value);
  form.addEventListener("change", () => (button.disabled = picked().length !== 2));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [first, second] = picked();
    location.hash = at("#/runs/compare", { first, second });
  });
  content.append(form);
}

function table(runs) {
  const rows = runs.map((run) => h("tr", {}, h("td", {}, h("input", { type: "checkbox", value: run.id, "aria-label": `Compare ${run.question}` })), h("th", { scope: "row" }, h("a", { href: `#/runs/${part(run.id)}` }, run.question), h("span", { class: "hint id" }, run.said)), h("td", {}, run.refused ? h("span", { class: "badge warning" }, "refused") : h("span", { class: "badge good" }, "answered")), h("td", { class: "hint wide" }, when(run.started)), h("td", { class: "number wide" }, `${run.seconds.toFixed(2)} s`)));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs" }, h("table", { class: "runs" }, h("thead", {}, h("tr", {}, h("td", {}), ["Question", ""].map((each) => (each ? h("th", { scope: "col" }, each) : h("td", {}))), h("th", { scope: "col", class: "wide" }, "Asked"), h("th", { scope: "col", class: "number wide" }, "Took"))), h("tbody", {}, rows)));
}

const when = (moment) => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(new Date(moment));
const again = (question, query = null) => {
  if (query) sessionStorage.setItem("fin-agent-edited", JSON.stringify(query));
  location.hash = at("#/ask", { q: question });
};

async function one(content, name) {
  const run = await get(`/runs/${part(name)}`);
  const replayed = h("div", { "aria-live": "polite" });
  const button = h("button", { type: "button" }, "Replay");
  button.addEventListener("click", async () => {
    button.disabled = true;
    fill(replayed, h("p", { class: "hint" }, "Asking again …"));
    try {
      const told = await (await call(`/runs/${part(name)}/replay`, { method: "POST" })).json();
      fill(replayed, told.same_settings ? null : h("p", { class: "note" }, "The settings are others now."), told.differences.length ? [h("h2", {}, "What differs now"), differences(told.differences, "Then", "Now")] : h("p", { class: "note good" }, "The same answer and the same trace again."));
    } catch (error) {
      fill(replayed, problem(error));
    }
    button.disabled = false;
  });
  fill(
    content,
    h("p", { class: "crumbs" }, h("a", { href: "#/runs" }, "Runs"), " / ", run.id),
    h("div", { class: "section-head" }, h("h1", {}, run.question), button),
    h("p", { class: "hint" }, `${when(run.started)} · ${run.analyst} · version ${run.version} · ${run.filings} filings indexed`),
    replayed,
    answerCard(run.answer, again),
    h("section", {}, h("h2", {}, "Steps"), h("ol", { class: "trace" }, run.answer.trace.map((step) => h("li", {}, h("details", {}, h("summary", {}, h("strong", {}, capital(step.node.replaceAll("_", " "))), ` ${step.summary ?? ""}`), h("pre", { tabindex: "0" }, JSON.stringify(step, null, 1))))))),
  );
}

async function compare(content, first, second) {
  const told = await get(at("/runs/compare", { first, second }));
  fill(content, h("p", { class: "crumbs" }, h("a", { href: "#/runs" }, "Runs"), " / compare"), h("h1", {}, "Two runs"), h("div", { class: "beside" }, told.runs.map((run) => h("section", {}, h("h2", {}, h("a", { href: `#/runs/${part(run.id)}` }, run.question)), h("p", { class: "hint" }, when(run.started)), h("p", { class: "sentence" }, run.answer.answer.text)))), told.differences.length ? differences(told.differences, "First", "Second") : h("p", { class: "note good" }, "They are the same but for id and time."));
}

function differences(found, one, other) {
  const lines = (texts, sign) => texts.slice(0, 12).map((each) => h("li", {}, h("span", { "aria-hidden": "true" }, sign), each));
  return h("div", {}, found.map((each) => h("details", { class: "difference", open: found.length < 7 || ["question", "ledger", "program", "answer"].includes(each.part) }, h("summary", {}, capital(each.part), each.note && h("span", { class: "hint" }, ` ${each.note}`)), h("div", { class: "beside" }, h("div", {}, h("h3", {}, one), h("ul", { class: "minus" }, lines(each.first, "−"))), h("div", {}, h("h3", {}, other), h("ul", { class: "plus" }, lines(each.second, "+")))))));
}
