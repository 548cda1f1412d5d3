// Pages that hold something, best first, with what speaks for each.

import { at, get } from "./api.js";
import { capital, fill, h, problem } from "./dom.js";
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
    const { pages, notes, meanings } = await get(at("/found", { query: words, k: 15 }));
    const best = Math.max(...pages.map((page) => page.score), 1e-9);
    const places = pages.map((page) => ({ doc_id: page.filing.doc_id, page_number: page.page_number, box: page.box, label: page.title }));
    fill(
      found,
      notes.map((each) => h("p", { class: "note" }, each)),
      pages.length
        ? h("ol", { class: "found" }, pages.map((page, index) => h("li", {}, h("p", {}, proofLink(places[index], `${page.filing.company || page.filing.doc_id}, ${page.filing.form}${page.filing.fiscal_year ? ` FY${page.filing.fiscal_year}` : ""}, page ${page.page_number}`, places), h("meter", { value: Math.max(page.score, 0), max: best, "aria-label": "How well it fits" }), h("span", { class: "hint" }, [page.statement && `${page.statement} statement`, page.item && `Item ${page.item}`].filter(Boolean).join(" · "))), h("p", { class: "snippet" }, marked(page.text, words)), madeOf(page, meanings))))
        : h("p", { class: "empty" }, "No page holds this."),
    );
  } catch (error) {
    fill(found, problem(error, () => render(content, rest, query)));
  }
}

const terms = (words) => [...new Set(words.toLowerCase().match(/[a-z]{3,}|\d{4}/g) ?? [])].filter((each) => !["the", "and", "what", "was", "for", "how", "did"].includes(each));

/** What the score is the sum of, feature by feature; bars against the largest. */
function madeOf(page, meanings) {
  const largest = Math.max(...page.features.map((each) => Math.abs(each.share)), 1e-9);
  const rows = page.features.map(({ name, share }) => h("tr", {}, h("th", { scope: "row" }, name.replaceAll("_", " "), meanings[name] && h("span", { class: "hint id" }, capital(meanings[name]))), h("td", {}, h("meter", { class: share < 0 ? "against" : "", value: Math.abs(share), max: largest, "aria-label": `${name}: ${share}` })), h("td", { class: "number" }, share.toFixed(3))));
  return h("details", { class: "made-of" }, h("summary", {}, `Score ${page.score.toFixed(3)}: ${page.features.slice(0, 3).map(({ name }) => name.replaceAll("_", " ")).join(", ")}${page.features.length > 3 ? ` and ${page.features.length - 3} more` : ""}`), h("table", {}, h("caption", { class: "sr" }, "What the score is the sum of"), h("tbody", {}, rows, h("tr", { class: "total" }, h("th", { scope: "row" }, "Score"), h("td", {}), h("td", { class: "number" }, page.score.toFixed(3))))));
}

/** The passage with the words of the search marked, around the first of them. */
function marked(text, words) {
  const asked = terms(words);
  const flat = text.replace(/\s+/g, " ");
  if (!asked.length) return flat.slice(0, 320);
  const pattern = new RegExp(`(${asked.join("|")})`, "gi");
  const first = Math.max(0, flat.search(pattern) - 80);
  return [first > 0 && "… ", flat.slice(first, first + 340).split(pattern).map((each, index) => (index % 2 ? h("mark", {}, each) : each)), flat.length > first + 340 && " …"];
}
