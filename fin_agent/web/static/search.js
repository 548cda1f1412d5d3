// Pages that hold something, best first, with what speaks for each.

import { at, get } from "./api.js";
import { fill, h, problem } from "./dom.js";
import { proofLink } from "./proof.js";

export async function render(content, rest, query) {
  const field = h("input", { type: "search", "aria-label": "Search", placeholder: "What to look for, in words a filing would use", value: query.get("q") ?? "" });
  const found = h("div", { "aria-live": "polite" }, h("p", { class: "empty" }, "Searches all pages of all filings; a company and a year in the words narrow it."));
  const form = h("form", { class: "filters", role: "search" }, field, h("button", { class: "primary" }, "Search"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) location.hash = at("#/search", { q: field.value.trim() });
  });
  fill(content, h("h1", {}, "Search"), form, found);
  field.focus();
  const words = query.get("q");
  if (!words) return;
  fill(found, h("p", { class: "hint" }, "Searching …"));
  try {
    const { pages, notes } = await get(at("/search", { query: words, k: 15 }));
    const best = Math.max(...pages.map((page) => page.score), 1e-9);
    const places = pages.map((page) => ({ doc_id: page.filing.doc_id, page_number: page.page_number, box: page.box, label: page.title }));
    fill(
      found,
      notes.map((each) => h("p", { class: "note" }, each)),
      pages.length
        ? h("ol", { class: "found" }, pages.map((page, index) => h("li", {}, h("p", {}, proofLink(places[index], `${page.filing.company}, ${page.filing.form}${page.filing.fiscal_year ? ` FY${page.filing.fiscal_year}` : ""}, page ${page.page_number}`, places), h("meter", { value: Math.max(page.score, 0), max: best, "aria-label": "How well it fits" }), h("span", { class: "hint" }, `score ${page.score.toFixed(2)}${page.statement ? ` · ${page.statement} statement` : ""}${page.item ? ` · Item ${page.item}` : ""} · holds ${held(words, page)}`)), h("p", { class: "snippet" }, marked(page.text, words)))))
        : h("p", { class: "empty" }, "No page holds this."),
    );
  } catch (error) {
    fill(found, problem(error, () => render(content, rest, query)));
  }
}

const terms = (words) => [...new Set(words.toLowerCase().match(/[a-z]{3,}|\d{4}/g) ?? [])].filter((each) => !["the", "and", "what", "was", "for", "how", "did"].includes(each));
const held = (words, page) => terms(words).filter((each) => `${page.text} ${page.title} ${page.filing.company} ${page.filing.fiscal_year}`.toLowerCase().includes(each)).join(", ") || "words alike";

/** The passage with the words of the search marked, around the first of them. */
function marked(text, words) {
  const asked = terms(words);
  const flat = text.replace(/\s+/g, " ");
  if (!asked.length) return flat.slice(0, 320);
  const pattern = new RegExp(`(${asked.join("|")})`, "gi");
  const first = Math.max(0, flat.search(pattern) - 80);
  return [first > 0 && "… ", flat.slice(first, first + 340).split(pattern).map((each, index) => (index % 2 ? h("mark", {}, each) : each)), flat.length > first + 340 && " …"];
}
