// What the server works with. A key is never told, nor where anything lies.

import { get } from "./api.js";
import { fill, h } from "./dom.js";

export async function render(content) {
  const told = await get("/workspace");
  const budget = told.budget && Object.entries(told.budget).map(([name, value]) => `${name} ${value}`).join(", ");
  const rows = [
    ["Index", `${told.index || "on a cluster"}, ${told.filings.toLocaleString("en-US")} filings${told.only_some ? ", of which only some may be read" : ""}`, "fin-agent serve --index DIR"],
    ["Who reasons", told.analyst === "rules" ? "rules: no chat model is asked" : `rules, and ${told.model} where they are unsure`, "fin-agent serve --model openai:NAME"],
    told.preset && ["Preset", told.preset, "fin-agent serve --preset NAME"],
    told.analyst !== "rules" && ["Budget of a question", budget || "none", "fin-agent serve --max-dollars 0.10"],
    ["Search", `${told.strategy}, ${told.rounds} rounds at most`, "fin-agent serve --strategy NAME"],
    ["Filings can be added", told.uploads ? "yes" : "no", told.uploads ? "fin-agent serve --read-only" : "without --read-only and --doc"],
    ["Runs are recorded", told.runs ? "yes" : "no", "FIN_AGENT_RECORD"],
    ["Version", told.version, ""],
  ].filter(Boolean);
  fill(
    content,
    h("h1", {}, "Settings"),
    h("p", { class: "hint" }, "Whoever starts the server chooses these; keys stay there."),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Settings" }, h("table", {}, h("thead", {}, h("tr", {}, ["Setting", "Now", "Changed by"].map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, rows.map(([name, now, how]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, now), h("td", {}, how && h("code", {}, how))))))),
    h("h2", {}, "Keys"),
    h("dl", { class: "keys" }, [["/", "to the field of the view"], ["g a, g f, g s, g c, g r", "ask, filings, search, chart, runs"], ["Enter, Shift+Enter", "ask, a new line"], ["n, p", "next figure, figure before (page pane)"], ["[ , ]", "page before, next page (page pane)"], ["+ , -", "zoom (page pane)"], ["Esc", "close the page pane"]].map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("p", {}, h("a", { href: "/docs" }, "The HTTP API"), " that this page uses, for programs."),
  );
}
