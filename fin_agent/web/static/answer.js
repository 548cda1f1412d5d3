// An answer with all that shows where it comes from: figures as links, the reading, the program, the ledger, what to take away.

import { get, part, post } from "./api.js";
import { capital, fill, h, problem, save, tell } from "./dom.js";
import { openProof, proofLink } from "./proof.js";

const place = (figure) => ({
  doc_id: figure.doc_id,
  page_number: figure.page_number ?? figure.page + 1,
  box: figure.box,
  label: figure.label,
  quoted: figure.label === undefined ? figure.text : undefined,
  column: figure.column,
  printed: figure.amount === undefined ? undefined : money(figure),
});

const SCALES = { 1: "", 1000: " thousand", 1000000: " million", 1000000000: " billion" };
function money({ amount, scale, unit }) {
  const number = Number(amount).toLocaleString("en-US", { maximumFractionDigits: 6 });
  if (unit === "percent") return `${number}%`;
  const head = unit.startsWith("USD") ? "$" : "";
  const tail = unit.startsWith("USD") ? unit.slice(3) : ` ${unit}`;
  return `${head}${number}${SCALES[scale] ?? ` × ${scale}`}${tail}`;
}

/** Entries whose figure the answer cites: the ledger may hold others, by which the same could be computed. */
function taken(answer) {
  const filled = answer.ledger.filter((entry) => entry.figure);
  const key = (each) => `${each.doc_id} ${each.page} ${each.box}`;
  const cited = new Set(answer.citations.map(key));
  return answer.refused ? filled : filled.filter((entry) => cited.has(key(entry.figure)));
}

/** The card of an answer. `ask` takes a question that is asked again. */
export function answerCard(answer, ask) {
  const figures = taken(answer).map((entry) => ({ entry, place: place(entry.figure) }));
  const places = figures.length ? figures.map((each) => each.place) : answer.citations.map(place);
  return h(
    "section",
    { class: `answer${answer.refused ? " refused" : ""}`, "aria-label": "Answer" },
    answer.refused ? refusal(answer) : said(answer, figures, places),
    figures.length > 0 && figuresTable(figures, places, answer.refused),
    !figures.length && !answer.refused && quotations(answer, places),
    answer.assumptions.map((each) => h("p", { class: "note" }, capital(each))),
    answer.warnings.map((each) => h("p", { class: "note warning" }, capital(each))),
    h("div", { class: "more" }, reading(answer.question, ask), answer.program && program(answer, figures, places), answer.ledger.length > 0 && ledger(answer)),
    foot(answer),
  );
}

/** The sentence; numbers of it that are figures of the ledger are links to these. */
function said(answer, figures, places) {
  const text = answer.answer.text;
  if (!figures.length && text === answer.citations.map((citation) => citation.text).join(" ")) return null; // the quotations say it
  const known = figures.flatMap(({ entry, place: at }) => spellings(entry.figure).map((spelt) => ({ spelt, at })));
  const pieces = [];
  let rest = 0;
  for (const found of text.matchAll(/-?\$?\d[\d,]*(?:\.\d+)?(?:%| (?:thousand|million|billion)\b)?/g)) {
    const digits = found[0].replace(/[^\d.]/g, "").replace(/\.$/, "");
    const match = known.find(({ spelt }) => spelt === digits);
    if (!match || found.index < rest) continue;
    pieces.push(text.slice(rest, found.index), proofLink(match.at, found[0], places));
    rest = found.index + found[0].length;
  }
  pieces.push(text.slice(rest));
  const linked = pieces.length > 1;
  return h("div", { class: "said" }, h("p", { class: "sentence" }, linked ? pieces : text), !linked && figures.length > 0 && h("p", { class: "hint" }, "Computed from the figures below: each leads to its page."));
}

function spellings(figure) {
  const amount = Math.abs(Number(figure.amount));
  const value = amount * figure.scale;
  return [...new Set([amount, value, value / 1e3, value / 1e6, value / 1e9].flatMap((each) => [each, each.toFixed(1), each.toFixed(2)]).map((each) => String(Number(each))))].filter((each) => each !== "0");
}

function refusal(answer) {
  const near = answer.retrieved.pages.slice(0, 4).map(place);
  return h(
    "div",
    { class: "said" },
    h("p", { class: "sentence" }, "Not answered: the indexed filings do not have it."),
    h("ul", { class: "missing" }, answer.missing.map((each) => h("li", {}, each))),
    near.length > 0 && h("p", { class: "hint" }, "Nearest pages: ", near.map((each, at) => [at > 0 && ", ", proofLink(each, `${each.doc_id} p. ${each.page_number}`, near)])),
  );
}

function figuresTable(figures, places, refused) {
  const companies = new Set(figures.map(({ entry }) => entry.slot.company_name));
  const rows = figures.map(({ entry, place: at }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, capital(entry.slot.label), differs(entry) && h("span", { class: "hint id" }, entry.figure.label), entry.conflicts.length > 0 && h("span", { class: "badge warning", title: entry.conflicts.map((other) => `${other.label}: ${money(other)}, ${other.doc_id} p. ${other.page + 1}`).join("\n") }, "stated otherwise elsewhere")),
      companies.size > 1 && h("td", {}, entry.slot.company_name),
      h("td", {}, period(entry.slot)),
      h("td", { class: "number" }, proofLink(at, money(entry.figure), places)),
      h("td", { class: "hint where" }, at.doc_id, ` p.\u00a0${at.page_number}`),
    ),
  );
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of the answer" },
    h("table", { class: "figures" }, h("caption", { class: "sr" }, refused ? "Found so far" : "Figures"), h("thead", {}, h("tr", {}, ["Figure", companies.size > 1 && "Company", "Period"].filter(Boolean).map((each) => h("th", { scope: "col" }, each)), h("th", { scope: "col", class: "number" }, "Value"), h("th", { scope: "col" }, "Page"))), h("tbody", {}, rows)),
  );
}

/** Whether the line is printed under another name than it is asked by. */
const differs = (entry) => entry.figure.label.toLowerCase() !== entry.slot.label.toLowerCase();

const period = (slot) => `${slot.quarter ? `Q${slot.quarter} ` : ""}FY${slot.fiscal_year}`;

function quotations(answer, places) {
  return h("ul", { class: "quotes" }, answer.citations.map((citation, at) => h("li", {}, h("blockquote", {}, citation.text), h("p", { class: "hint" }, proofLink(places[at], `${citation.doc_id}, page ${citation.page_number ?? citation.page + 1}`, places)))));
}

/** How the question was read: chips that can be changed, unread words marked. */
function reading(question, ask) {
  const body = h("div", {}, h("p", { class: "hint" }, "Reading …"));
  const box = h("details", { class: "reading" }, h("summary", {}, "How it was read"), body);
  box.addEventListener("toggle", async () => {
    if (!box.open || body.dataset.read) return;
    body.dataset.read = "yes";
    try {
      fill(body, readingEditor(await get(`/reading?question=${part(question)}`), ask));
    } catch (error) {
      fill(body, problem(error));
    }
  });
  return box;
}

function readingEditor(read, ask) {
  if (!read.kind) return h("p", {}, `${capital(read.problem)}. ${read.remedy ?? ""}`);
  const id = `list-${Math.random().toString(36).slice(2)}`;
  const words = read.words.map((word) => {
    if (!word.kind) return { text: () => word.text, node: h("span", {}, word.text) };
    const field = h("input", { value: word.text, "aria-label": word.kind, list: `${id}-${word.kind}`, spellcheck: "false" });
    field.style.width = `${Math.max(word.text.length, 4) + 5}ch`;
    field.addEventListener("input", () => (field.style.width = `${Math.max(field.value.length, 4) + 5}ch`));
    return { text: () => field.value, node: h("label", { class: `chip ${word.kind}` }, h("span", {}, word.kind), field) };
  });
  const unit = h("select", { "aria-label": "unit" }, h("option", { value: "" }, "as asked"), read.choices.unit.map((each) => h("option", { value: each }, each)));
  const again = () => {
    let question = words.map((word) => word.text()).join("").trim();
    if (unit.value) question = `${question.replace(/[?.\s]+$/, "").replace(/,? in (USD )?(millions|billions|percent|basis points)$/i, "")}, ${unit.value}?`;
    ask(question);
  };
  return h(
    "form",
    { class: "chips", onsubmit: (event) => (event.preventDefault(), again()) },
    ["company", "period", "measure"].map((kind) => h("datalist", { id: `${id}-${kind}` }, read.choices[kind].map((each) => h("option", { value: each })))),
    h("p", { class: "words" }, words.map((word) => word.node)),
    h("dl", { class: "asks" }, h("dt", {}, "Asks for"), h("dd", {}, `${read.kind}: ${read.measures.join(", ") || "words, not a figure"}`), read.companies.length > 0 && [h("dt", {}, "Of"), h("dd", {}, read.companies.join(", "))], read.periods.length > 0 && [h("dt", {}, "When"), h("dd", {}, read.periods.join(", "))], h("dt", {}, "Unit"), h("dd", {}, unit), read.unread.length > 0 && [h("dt", {}, "Not understood"), h("dd", { class: "unread-words" }, read.unread.join(", "))]),
    h("button", { class: "primary" }, "Ask it so"),
  );
}

/** The program; a variable that is a figure leads to its page. */
function program(answer, figures, places) {
  const lines = answer.program.trimEnd().split("\n").map((line) => {
    const found = line.match(/^(\s*)(\w+)( = )(-?[\d.]+)(\s+#.*?(\S+) page (\d+) line (\d+).*)$/);
    if (!found) return h("code", {}, line || " ");
    const [, indent, name, is, number, comment, doc_id, page, row] = found;
    const match = figures.find(({ entry }) => entry.figure.doc_id === doc_id && entry.figure.page + 1 === Number(page) && entry.figure.line + 1 === Number(row) && Math.abs(Number(entry.figure.amount)) === Math.abs(Number(number)));
    const linked = match ? proofLink(match.place, name, places) : name;
    return h("code", {}, indent, linked, is, number, h("span", { class: "comment" }, comment));
  });
  return h("details", {}, h("summary", {}, "Program"), h("pre", { class: "program", tabindex: "0" }, lines));
}

function ledger(answer) {
  const rows = answer.ledger.map((entry) =>
    h("li", { class: entry.figure ? "filled" : entry.required ? "empty" : "optional" }, h("strong", {}, `${entry.slot.label} of ${entry.slot.company_name}, ${period(entry.slot)}`), h("span", {}, entry.figure ? money(entry.figure) : entry.required ? "missing" : "not needed"), h("p", { class: "hint" }, capital(entry.reason))),
  );
  const missing = answer.ledger.filter((entry) => !entry.figure && entry.required).length;
  return h("details", {}, h("summary", {}, `Ledger (${answer.ledger.filter((entry) => entry.figure).length} filled${missing ? `, ${missing} missing` : ""})`), h("ul", { class: "ledger" }, rows));
}

function foot(answer) {
  const filings = new Set(answer.retrieved.pages.map((page) => page.doc_id)).size;
  const cost = answer.usage.model_calls ? ` · ${answer.usage.model_calls} model calls${answer.usage.dollars ? `, $${answer.usage.dollars.toFixed(4)}` : ""}` : "";
  const take = async (kind) => {
    try {
      const sent = { ...answer, trace: [] };
      save(await (await post(`/export/${kind}`, { answers: [sent] })).blob(), `answer.${kind}`);
    } catch (error) {
      tell(`${capital(error.what)}. ${error.remedy ?? ""}`, "bad");
    }
  };
  return h(
    "footer",
    {},
    h("span", { class: "hint" }, answer.rounds ? `${answer.rounds} round${answer.rounds === 1 ? "" : "s"} · ${filings} filing${filings === 1 ? "" : "s"} searched · ${answer.seconds.toFixed(2)} s${cost}` : `before any search · ${answer.seconds.toFixed(2)} s`),
    h("span", { class: "push" }),
    h("span", { class: "hint" }, "Take away"),
    [["xlsx", "Excel"], ["csv", "CSV"], ["html", "Report"]].map(([kind, name]) => h("button", { type: "button", class: "quiet", onclick: () => take(kind) }, name)),
  );
}

/** Open the first figure of an answer where there is room beside it. */
export function openFirst(answer) {
  if (innerWidth < 1100 || answer.refused) return;
  const filled = taken(answer).map((entry) => place(entry.figure));
  const places = filled.length ? filled : answer.citations.map(place);
  if (places.length) openProof(places[0], places, null);
}
