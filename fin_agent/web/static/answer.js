// An answer with all that shows where it comes from: figures as links, the reading, the program, the ledger, what to take away.

import { at, get, post } from "./api.js";
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

/** The card of an answer. `ask` takes a question that is asked again, and its reading where that was edited. */
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
  if (answer.ask_back) return h("div", { class: "said" }, h("p", { class: "sentence" }, answer.ask_back), h("p", { class: "hint" }, "The question can be meant in several ways. Reply with what you mean."));
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

/** How the question was read: the Query as chips that can be changed, unread words marked. */
function reading(question, ask) {
  const body = h("div", {}, h("p", { class: "hint" }, "Reading …"));
  const box = h("details", { class: "reading" }, h("summary", {}, "How it was read"), body);
  const read = async () => {
    try {
      fill(body, readingEditor(await get(at("/reading", { question })), ask, read));
    } catch (error) {
      fill(body, problem(error));
    }
  };
  box.addEventListener("toggle", () => {
    if (!box.open || body.dataset.read) return;
    body.dataset.read = "yes";
    read();
  });
  return box;
}

/** Chips over a copy of the tree: each choice changes the tree, and the tree is what is asked. */
function readingEditor({ words, query, choices, measures, problem: what, remedy }, ask, reset) {
  if (!query) return h("p", {}, `${capital(what)}. ${remedy ?? ""}`);
  const id = `list-${Math.random().toString(36).slice(2)}`;
  const lists = h("div", {});
  const chips = h("dl", { class: "chips" });
  const lines = linesOf([...query.measures, query.chosen_by].filter(Boolean));
  const parts = query.parts?.names ?? [];
  const own = lines.filter((line) => line.part && line.part !== "*");

  const draw = () => {
    fill(lists, ["company", "measure", "part"].map((kind) => h("datalist", { id: `${id}-${kind}` }, choices[kind].map((each) => h("option", { value: each.name ?? each.text ?? each })))));
    const row = (name, content) => [h("dt", {}, name), h("dd", {}, content)];
    fill(
      chips,
      row("Asks for", h("span", { class: "kind" }, `a ${query.kind}${query.comparison ? ` over ${query.comparison.axis}, ${query.comparison.how}` : ""}${measures.length ? `: ${measures.join("; ")}` : ""}`)),
      lines.length > 0 && row(lines.length > 1 ? "Lines" : "Measure", lines.map((line) => typed("measure", line.words, (text) => rename(line, text)))),
      row("Company", [query.companies.map((each, index) => typed("company", each.name, (text) => replaceCompany(index, text), () => (query.companies.splice(index, 1), companiesChanged()))), adder("company", (text) => replaceCompany(query.companies.length, text))]),
      lines.length > 0 && row("Part", partChips()),
      row("Period", [query.periods.map((each, index) => picked("period", periodText(each), choices.period.map((one) => one.text), (text) => (query.periods[index] = periodOf(text)), () => query.periods.splice(index, 1))), choices.period.length > 0 && picked("period", "", choices.period.map((one) => one.text), (text) => text && query.periods.push(periodOf(text)))]),
      lines.length > 0 && row("Unit", picked("unit", query.unit ?? "", choices.unit, (text) => (query.unit = text || null), null, "as printed")),
      query.unread.length > 0 && row("Not understood", query.unread.map((each) => h("span", { class: "chip unread" }, each, remover(`Leave out ${each}`, () => (query.unread = query.unread.filter((other) => other !== each)))))),
    );
  };

  const changed = (change) => {
    change();
    draw();
  };
  const remover = (label, act) => h("button", { type: "button", class: "quiet", "aria-label": label, title: label, onclick: () => changed(act) }, "✕");
  const typed = (kind, value, set, remove = null) => {
    const field = h("input", { value, "aria-label": kind, list: `${id}-${kind}`, spellcheck: "false", required: true });
    const size = () => (field.style.width = `${Math.min(Math.max(field.value.length, 6) + 3, 44)}ch`);
    size();
    field.addEventListener("input", () => (size(), field.setCustomValidity("")));
    field.addEventListener("change", () => {
      const refused = set(field.value.trim());
      field.setCustomValidity(refused || "");
      if (refused) field.reportValidity();
    });
    return h("label", { class: `chip ${kind}` }, field, remove && remover(`Without ${value}`, remove));
  };
  const adder = (kind, set) => {
    const button = h("button", { type: "button", class: "quiet", "aria-label": `Add a ${kind}` }, "+ add");
    button.addEventListener("click", () => {
      const chip = typed(kind, "", set);
      button.replaceWith(chip);
      chip.querySelector("input").focus();
    });
    return button;
  };
  const picked = (kind, value, options, set, remove = null, none = `+ add`) => {
    const known = value && !options.includes(value) ? [value, ...options] : options;
    const field = h("select", { "aria-label": value ? kind : `${kind}: ${none}` }, (!value || none !== "+ add") && h("option", { value: "" }, none), known.map((each) => h("option", { value: each, selected: each === value }, each)));
    field.addEventListener("change", () => changed(() => set(field.value)));
    return h("label", { class: `chip ${kind}${value ? "" : " none"}` }, field, remove && value && remover(`Without ${value}`, remove));
  };

  const periodText = (period) => choices.period.find((one) => same(one.period, period))?.text ?? (period.end ? `to ${period.end}` : `${period.quarter ? `Q${period.quarter} ` : ""}${period.fiscal_year ? `FY${period.fiscal_year}` : "latest"}`);
  const periodOf = (text) => choices.period.find((one) => one.text === text).period;
  const rename = (line, text) => {
    const known = choices.measure.find((one) => one.text === text);
    Object.assign(line, { node: known?.formula ? "named" : "line", words: text, metric: known?.metric ?? null });
    known?.formula ? (line.formula = known.formula) : delete line.formula;
  };
  const partChips = () => {
    const names = own.length ? own.map((line) => [line.part, (text) => (line.part = text || null)]) : parts.map((name, index) => [name, (text) => (text ? (parts[index] = text) : parts.splice(index, 1))]);
    const set = (change) => (text) => {
      if (text && !choices.part.includes(text)) return "Choose a part that these filings print";
      change(text);
      if (!own.length) query.parts = parts.length ? { ...query.parts, names: parts } : null;
      draw();
      return "";
    };
    return [names.map(([name, change]) => typed("part", name, set(change), () => set(change)(""))), !names.length && choices.part.length > 0 && adder("part", set((text) => parts.push(text))), !names.length && !choices.part.length && h("span", { class: "hint" }, "the whole company")];
  };
  const replaceCompany = (index, text) => {
    const known = choices.company.find((one) => one.name.toLowerCase() === text.toLowerCase()) ?? only(choices.company.filter((one) => one.name.toLowerCase().startsWith(text.toLowerCase())));
    if (!known) return "Choose a company that is indexed";
    query.companies[index] = { key: known.key, name: known.name };
    companiesChanged();
    return "";
  };
  const companiesChanged = async () => {
    draw();
    choices = await get(at("/choices", { company: query.companies.map((each) => each.key) })).catch(() => choices);
    draw();
  };

  draw();
  return h(
    "form",
    { class: "reading-form", onsubmit: (event) => (event.preventDefault(), ask(query.question, query)) },
    lists,
    h("p", { class: "words" }, words.map((word) => (word.kind ? h("span", { class: `word ${word.kind}`, title: word.kind === "unread" ? "not understood" : word.kind }, word.text) : word.text))),
    chips,
    h("p", { class: "acts" }, h("button", { class: "primary" }, "Ask it so"), h("button", { type: "button", class: "quiet", onclick: reset }, "As it was")),
  );
}

const same = (one, other) => one.fiscal_year === other.fiscal_year && (one.quarter ?? null) === (other.quarter ?? null) && (one.months ?? 12) === (other.months ?? 12) && !other.end && !other.half;
const only = (list) => (list.length === 1 ? list[0] : undefined);

/** The printed lines and named formulas of measures, left to right. */
function linesOf(measures) {
  return measures.flatMap((each) => (each.node === "line" || each.node === "named" ? [each] : linesOf([each.left, each.right, ...(Array.isArray(each.of) ? each.of : [each.of])].filter(Boolean))));
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
