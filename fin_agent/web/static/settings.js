// What questions of this tab are answered with, of what the server offers; and what it works with. A key is never told.

import { choose, chosen, get } from "./api.js";
import { fill, h, tell } from "./dom.js";

const LIMITS = { dollars: ["Dollars", "0.01"], calls: ["Calls of the model", "1"], tokens: ["Tokens", "1000"], seconds: ["Seconds", "1"] };

export async function render(content) {
  const told = await get("/workspace");
  const now = chosen();
  const served = [
    ["Index", `${told.index}, ${told.filings.toLocaleString("en-US")} filings${told.only_some ? ", of which only some may be read" : ""}`, "--index DIR, --offer-index DIR"],
    ["Chat models", told.models.length > 1 ? told.models.slice(1).join(", ") : "none: rules answer", "--model NAME, --offer-model NAME"],
    ["Search", `${told.strategy}, ${told.rounds} rounds at most`, "--strategy NAME"],
    ["Filings can be added", told.uploads ? "yes" : "no", told.uploads ? "--read-only" : "without --read-only and --doc"],
    ["Runs are recorded", told.runs ? "yes" : "no", "FIN_AGENT_RECORD"],
    ["Version", told.version, ""],
  ];
  fill(
    content,
    h("h1", {}, "Settings"),
    form(told, now, () => render(content)),
    h("h2", {}, "The server"),
    h("p", { class: "hint" }, "Whoever starts it chooses these, and holds the keys."),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The server" }, h("table", { class: "settings" }, h("thead", {}, h("tr", {}, ["Setting", "Now", "fin-agent serve"].map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, served.map(([name, value, how]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value), h("td", {}, how && h("code", {}, how))))))),
    h("h2", {}, "Keys"),
    h("dl", { class: "keys" }, [["/", "to the field of the view"], ["g a, g f, g s, g c, g r", "ask, filings, search, chart, runs"], ["Enter, Shift+Enter", "ask, a new line"], ["n, p", "next figure, figure before (page pane)"], ["[ , ]", "page before, next page (page pane)"], ["+ , -", "zoom (page pane)"], ["Esc", "close the page pane"]].map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("p", {}, h("a", { href: "/docs" }, "The HTTP API"), " that this page uses, for programs."),
  );
}

/** What can be chosen here. It is kept in this tab, and goes with each of its questions. */
function form(told, now, again) {
  const select = (name, options, value) => h("select", { name, id: `set-${name}` }, options.map(([given, text]) => h("option", { value: given, selected: given === value }, text)));
  const row = (name, label, field, hint) => h("div", { class: "field" }, h("label", { for: `set-${name}` }, label), field, hint && h("p", { class: "hint" }, hint));
  const indexes = told.indexes.length > 1 && row("prefix", "Index", select("prefix", told.indexes.map((each) => [each.prefix, each.name]), now.prefix ?? ""), "Conversations and runs are kept with each.");
  const models = row("model", "Who reasons", select("model", told.models.map((name) => [name, name === "rules" ? "Rules alone" : `Rules, and ${name} where they are unsure`]), now.model ?? told.model));
  const preset = told.models.length > 1 && row("preset", "How much work the model does", select("preset", told.presets.map((name) => [name, { fast: "Fast: only what rules cannot do", default: "Default: wherever rules are unsure", thorough: "Thorough: every question and round" }[name] ?? name]), now.preset ?? told.preset));
  const limits = told.models.length > 1 && h("fieldset", {}, h("legend", {}, "Limits of a question"), Object.entries(LIMITS).map(([name, [label, step]]) => row(name, label, h("input", { type: "number", id: `set-${name}`, name, min: "0", max: told.budget[name], step, value: now.budget?.[name] ?? "", placeholder: told.budget[name] ?? "none" }), told.budget[name] !== null && `at most ${told.budget[name]}`)));
  if (!indexes && !preset) return h("p", {}, "Rules answer all questions: the server was started without a chat model, over one index.");
  const fields = h("form", { class: "card" }, h("h2", {}, "Questions of this tab"), indexes, models, preset, limits, h("p", { class: "acts" }, h("button", { class: "primary" }, "Use these"), h("button", { type: "button", class: "quiet", onclick: () => (choose({}), tell("As the server was started."), again()) }, "As the server was started")));
  fields.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(fields);
    const budget = Object.fromEntries(Object.keys(LIMITS).filter((name) => given.get(name)).map((name) => [name, Number(given.get(name))]));
    const differs = (name) => (given.has(name) && given.get(name) !== told[name] ? given.get(name) : undefined);
    choose({ prefix: given.get("prefix") || undefined, model: differs("model"), preset: differs("preset"), budget: Object.keys(budget).length ? budget : undefined });
    tell("Questions of this tab are asked so.");
    again();
  });
  return fields;
}
