// A printed line, or a row of a statement, over years and companies.

import { at, get } from "./api.js";
import { chart, periodOf } from "./chart.js";
import { fill, h, problem } from "./dom.js";
import { proofLink } from "./proof.js";

export async function render(content, rest, query) {
  const choices = await get("/choices");
  let own = ""; // the company of the row
  const phrase = query.get("phrase") ?? "";
  const companies = query.getAll("company");
  const row = query.get("doc_id") ? { doc_id: query.get("doc_id"), page_number: query.get("page_number"), line: query.get("line") } : null;
  const some = companies.length > 0 || row !== null;
  const field = h("input", { type: "search", "aria-label": "Line", placeholder: "A line as filings print it: net income", value: phrase, list: "lines", required: true });
  const company = h("input", { "aria-label": "Add a company", placeholder: some ? "Add a company" : "Company", list: "companies", required: !some });
  const chosen = h("ul", { class: "chosen" }, companies.map((each) => h("li", { class: "chip company" }, each, h("a", { href: at("#/chart", { phrase, ...row, company: companies.filter((other) => other !== each) }), "aria-label": `Without ${each}` }, "✕"))));
  const form = h("form", { class: "filters" }, h("datalist", { id: "lines" }, choices.measure.map((each) => h("option", { value: each.text }))), h("datalist", { id: "companies" }, choices.company.map((each) => h("option", { value: each.name }))), field, company, h("button", { class: "primary" }, "Draw"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const named = [...new Set([...companies, company.value.trim()].filter(Boolean))];
    const asked = field.value.trim();
    // Other words are another line: the row is left, and its company kept.
    location.hash = at("#/chart", asked === phrase ? { phrase, ...row, company: named } : { phrase: asked, company: row && own ? [...new Set([own, ...named])] : named });
  });
  const drawn = h("div", { "aria-live": "polite" });
  fill(content, h("h1", {}, "Chart"), form, chosen, drawn);
  if (!phrase || !some) {
    fill(drawn, h("p", { class: "empty" }, "Any printed line over years and companies: name it here, or choose a row of a filing's statement."));
    return;
  }
  fill(drawn, h("p", { class: "hint" }, "Looking for the line in every year …"));
  try {
    const { series } = await get(at("/series", { phrase, ...row, company: companies }));
    if (row) own = series[0].company;
    const found = series.filter((each) => each.points.length);
    const without = series.filter((each) => !each.points.length).map((each) => each.company);
    fill(drawn, without.length > 0 && h("p", { class: "note" }, `No line called so was found for ${without.join(", ")}.`), found.length > 0 && [h("h2", {}, phrase), row && h("p", { class: "hint" }, "As the row of ", proofLink({ doc_id: row.doc_id, page_number: Number(row.page_number) }, row.doc_id), " has it; of other filings the same row of the same statement."), chart(found, `${phrase} over the years`), table(found)]);
  } catch (error) {
    fill(drawn, problem(error, () => render(content, rest, query)));
  }
}

function table(series) {
  const years = [...new Set(series.flatMap((each) => each.points.map((point) => point.fiscal_year)))].sort((a, b) => a - b);
  const rows = series.map((each) => h("tr", {}, h("th", { scope: "row" }, each.company, h("span", { class: "hint id" }, [...new Set(each.points.map((point) => point.label))].join(" / "))), years.map((year) => {
    const point = each.points.find((one) => one.fiscal_year === year);
    return h("td", { class: "number" }, point && proofLink(point, compact(point), each.points));
  })));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures of the chart" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Company"), years.map((year) => h("th", { scope: "col", class: "number" }, periodOf(series[0].points, year))))), h("tbody", {}, rows)));
}

function compact(point) {
  const told = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 }).format(point.value);
  return point.unit === "percent" ? `${told}%` : point.unit.startsWith("USD") ? told.replace(/^(-?)/, "$1$") : told;
}
