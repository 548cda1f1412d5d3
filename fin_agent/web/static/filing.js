// One filing: its statements with years side by side, Items, notes, and what its own sums say.

import { at, call, get, part } from "./api.js";
import { capital, fill, h, problem, save, tell } from "./dom.js";
import { openProof, proofLink } from "./proof.js";

const TABS = ["statements", "contents", "checks"];
const NAMES = { income: "Income", balance: "Balance sheet", "cash-flow": "Cash flow", equity: "Equity", "comprehensive-income": "Comprehensive income" };

export async function render(content, [doc_id], query) {
  const filing = await get(`/filings/${part(doc_id)}`);
  const body = h("div", { role: "tabpanel", id: "panel", tabindex: "-1" });
  const tabs = TABS.map((name) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => choose(name) }, capital(name)));
  const bar = h("div", { role: "tablist", "aria-label": "Parts of the filing", class: "tabs" }, tabs);
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
  const period = filing.quarter ? `Q${filing.quarter} FY${filing.fiscal_year}` : filing.fiscal_year ? `FY${filing.fiscal_year}` : "";
  fill(
    content,
    h("p", { class: "crumbs" }, h("a", { href: "#/filings" }, "Filings"), " / ", doc_id),
    h("h1", {}, `${filing.company || doc_id}, ${filing.form}${filing.amended ? "/A" : ""} ${period}`),
    h("p", { class: "hint" }, [filing.ticker, filing.period_end && `period ended ${filing.period_end}`, filing.filed && `filed ${filing.filed}`, `${filing.pages} pages`, `${filing.facts.toLocaleString("en-US")} figures`].filter(Boolean).join(" · ")),
    filing.warnings.map((each) => h("p", { class: "note warning" }, capital(each))),
    bar,
    body,
  );
  const choose = async (name) => {
    for (const tab of tabs) {
      const chosen = tab.id === `tab-${name}`;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
    }
    body.setAttribute("aria-labelledby", `tab-${name}`);
    fill(body, h("p", { class: "hint" }, "Loading …"));
    try {
      fill(body, await { statements, contents, checks }[name](filing));
    } catch (error) {
      fill(body, problem(error, () => choose(name)));
    }
  };
  await choose(TABS.includes(query.get("tab")) ? query.get("tab") : "statements");
  const page = Number(query.get("page"));
  if (page) openProof({ doc_id, page_number: page, box: query.get("box")?.split(",").map(Number) });
}

async function statements(filing) {
  const { statements: found } = await get(`/filings/${part(filing.doc_id)}/statements`);
  if (!found.length) return h("p", { class: "empty" }, "No primary statement was found in this filing. Its pages and Items stand under Contents.");
  return found.map(({ statement, tables }) =>
    h(
      "section",
      { class: "statement" },
      h("div", { class: "section-head" }, h("h2", {}, NAMES[statement] ?? capital(statement)), h("button", { type: "button", class: "quiet", onclick: () => take(filing, statement) }, "Excel")),
      tables.length ? tables.map((table) => statementTable(filing, table)) : h("p", { class: "hint" }, "Its page was found, but no table was read there."),
    ),
  );
}

async function take(filing, statement) {
  try {
    save(await (await call(`/filings/${part(filing.doc_id)}/statements/${part(statement)}.xlsx`)).blob(), `${filing.doc_id}-${statement}.xlsx`);
  } catch (error) {
    tell(`${capital(error.what)}. ${error.remedy ?? ""}`, "bad");
  }
}

function statementTable(filing, table) {
  const rows = table.lines.map((line) => {
    if (line.kind === "gap") return h("tr", { class: "gap" }, h("td", { colspan: table.columns.length + 1 }));
    const indent = `depth-${Math.min(line.depth, 4)}`;
    if (line.kind === "heading" || line.kind === "page") return h("tr", { class: line.kind }, h("th", { scope: "rowgroup", colspan: table.columns.length + 1, class: indent }, line.label));
    const places = line.cells.map((cell, column) => cell && { doc_id: filing.doc_id, page_number: cell.page_number, box: cell.box, label: line.label, column: table.columns[column], printed: cell.text });
    const around = places.filter(Boolean);
    const chart = { phrase: line.label, doc_id: filing.doc_id, page_number: line.page_number, line: line.line };
    const label = line.line ? h("a", { class: "row-label", title: "Draw as a chart over the years", href: at("#/chart", chart) }, line.label) : line.label;
    return h("tr", { class: line.kind }, h("th", { scope: "row", class: indent }, line.label ? label : ""), line.cells.map((cell, column) => h("td", { class: "number" }, cell && proofLink(places[column], cell.text, around))));
  });
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title || "Table" },
    h("table", { class: "printed" }, h("caption", {}, table.title, table.unit && h("span", { class: "hint" }, ` ${table.unit}`)), h("thead", {}, h("tr", {}, h("td", {}), table.columns.map((each) => h("th", { scope: "col", class: "number" }, each)))), h("tbody", {}, rows)),
  );
}

async function contents(filing) {
  const list = (title, parts, name) => parts.length > 0 && h("section", {}, h("h2", {}, title), h("ul", { class: "contents" }, parts.map((each) => h("li", {}, proofLink({ doc_id: filing.doc_id, page_number: each.first_page_number }, name(each)), h("span", { class: "hint" }, each.first_page_number === each.last_page_number ? `page ${each.first_page_number}` : `pages ${each.first_page_number}–${each.last_page_number}`)))));
  return [list("Statements", filing.statements, (each) => NAMES[each.name] ?? capital(each.name)), list("Items", filing.items, (each) => `Item ${each.name}`), list("Notes", filing.notes, (each) => each.name), !filing.statements.length && !filing.items.length && !filing.notes.length && h("p", { class: "empty" }, "Nothing in it was told apart. ", proofLink({ doc_id: filing.doc_id, page_number: 1 }, "Look at its pages"))];
}

async function checks(filing) {
  const told = await get(`/filings/${part(filing.doc_id)}/checks`);
  const words = { holds: "holds", fails: "fails", "not checkable": "not checkable" };
  return [
    h("p", {}, `${told.proved.toLocaleString("en-US")} of ${told.figures.toLocaleString("en-US")} figures in tables are borne out by a sum; ${told.doubtful} break one.`),
    told.checks.length ? h("ul", { class: "checks" }, told.checks.map((each) => h("li", { class: each.outcome.replaceAll(" ", "-") }, h("span", { class: "badge" }, words[each.outcome] ?? each.outcome), h("strong", {}, capital(each.name)), h("p", {}, each.sentence), h("p", { class: "hint" }, each.page_numbers.map((page, at) => [at > 0 && ", ", proofLink({ doc_id: filing.doc_id, page_number: page }, `page ${page}`)]))))) : h("p", { class: "empty" }, "Nothing could be checked: no primary statement was read."),
  ];
}
