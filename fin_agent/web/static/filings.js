// The list of filings, and adding to it by dropping files.

import { call, get, part, post } from "./api.js";
import { capital, fill, h, problem } from "./dom.js";

export async function render(content) {
  const workspace = await get("/workspace");
  const list = h("div", {});
  const search = h("input", { type: "search", placeholder: "Company, ticker or file", "aria-label": "Filter by company" });
  const form = h("select", { "aria-label": "Form" });
  const year = h("select", { "aria-label": "Fiscal year" });
  const state = { filings: [], total: 0 };
  const draw = () => fill(list, table(state, search.value, form.value, year.value));
  for (const each of [search, form, year]) each.addEventListener("input", draw);
  const reload = async () => {
    const found = await get("/filings?k=500");
    Object.assign(state, { filings: found.filings, total: found.total });
    options(form, "All forms", [...new Set(state.filings.map((each) => each.form))].sort());
    options(year, "All years", [...new Set(state.filings.map((each) => each.fiscal_year).filter(Boolean))].sort((a, b) => b - a));
    draw();
  };
  const written = h("p", { class: "note writing", role: "status", hidden: true });
  fill(content, h("h1", {}, "Filings"), written, workspace.uploads ? dropZone(workspace, reload) : h("p", { class: "hint" }, "This server takes no filings: it is read only."), h("div", { class: "filters" }, search, form, year), list);
  await reload();
  // While somebody writes to the index, what has been committed comes into the list by itself.
  const look = async (told) => {
    written.hidden = told.written_for === null;
    written.textContent = `The index is being written, for ${told.written_for} s now. What has been read is listed and can be asked about; more follows.`;
    if (told.written_for === null || !content.isConnected) return;
    await new Promise((resolve) => setTimeout(resolve, 2000));
    if (!content.isConnected) return;
    await reload().catch(() => {});
    look(await get("/workspace").catch(() => told));
  };
  look(workspace);
}

function options(select, all, values) {
  const chosen = select.value;
  fill(select, h("option", { value: "" }, all), values.map((each) => h("option", { value: each }, each)));
  select.value = chosen;
}

function table({ filings, total }, words, form, year) {
  if (!filings.length) return h("p", { class: "empty" }, "No filing is indexed yet. Drop one above.");
  const asked = words.toLowerCase().split(/\s+/).filter(Boolean);
  const left = filings.filter((each) => (!form || each.form === form) && (!year || String(each.fiscal_year) === year) && asked.every((word) => `${each.company} ${each.ticker ?? ""} ${each.doc_id}`.toLowerCase().includes(word)));
  if (!left.length) return h("p", { class: "empty" }, "No filing fits these filters.");
  const rows = left.map((each) =>
    h("tr", {}, h("th", { scope: "row" }, h("a", { href: `#/filing/${part(each.doc_id)}` }, each.company || each.doc_id), h("span", { class: "hint id" }, each.doc_id)), h("td", {}, each.ticker ?? ""), h("td", {}, each.form), h("td", {}, each.quarter ? `Q${each.quarter} FY${each.fiscal_year}` : each.fiscal_year ? `FY${each.fiscal_year}` : ""), h("td", { class: "wide" }, each.period_end ?? ""), h("td", { class: "number" }, each.pages)),
  );
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Filings" },
    h("table", { class: "filings" }, h("caption", { class: "hint" }, `${left.length} of ${filings.length} filings${total > filings.length ? `; ${total} are indexed: the first ${filings.length} are listed` : ""}`), h("thead", {}, h("tr", {}, ["Company", "Ticker", "Form", "Period"].map((each) => h("th", { scope: "col" }, each)), h("th", { scope: "col", class: "wide" }, "Ended"), h("th", { scope: "col", class: "number" }, "Pages"))), h("tbody", {}, rows)),
  );
}

function dropZone(workspace, reload) {
  const field = h("input", { type: "file", multiple: true, accept: workspace.readable.join(","), class: "sr", id: "files" });
  const queue = h("ul", { class: "queue", "aria-live": "polite" });
  const zone = h("div", { class: "drop" }, h("label", { for: "files", class: "button" }, "Choose files"), field, h("span", {}, "or drop filings here: ", workspace.readable.filter((each) => !each.endsWith(".gz")).join(", ")), queue);
  field.addEventListener("change", () => add([...field.files], queue, reload).then(() => (field.value = "")));
  for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => (event.preventDefault(), zone.classList.add("over")));
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.append(fromEdgar(queue, reload), queue);
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    add([...event.dataTransfer.files], queue, reload);
  });
  return zone;
}

/** Filings of a company, fetched by the server, which tells EDGAR who asks. */
function fromEdgar(queue, reload) {
  const company = h("input", { placeholder: "Ticker or CIK", "aria-label": "Ticker or CIK", required: true, maxlength: "100" });
  const form = h("select", { "aria-label": "Form to fetch" }, ["10-K", "10-Q", "8-K"].map((each) => h("option", {}, each)));
  const years = h("input", { placeholder: "2022-2024, or the newest", "aria-label": "Years", pattern: "\\d{4}(-\\d{4})?" });
  const button = h("button", {}, "Fetch");
  const fields = h("form", { class: "filters" }, company, form, years, button);
  fields.addEventListener("submit", async (event) => {
    event.preventDefault();
    const line = h("li", { class: "reading" }, h("strong", {}, `${company.value} ${form.value}`), h("span", { class: "hint" }, " being fetched and read …"), h("progress", { "aria-label": "Fetching" }));
    queue.append(line);
    button.disabled = true;
    try {
      const { files } = await (await post("/fetched", { company: company.value.trim(), form: form.value, years: years.value.trim() })).json();
      line.replaceWith(...files.map((became) => outcome(h("li", {}), became)));
    } catch (error) {
      line.className = "failed";
      fill(line, h("strong", {}, company.value), problem(error));
    }
    button.disabled = false;
    await reload().catch(() => {});
  });
  return h("details", { class: "edgar" }, h("summary", {}, "From EDGAR"), fields);
}

/** What became of a file, on its line. */
function outcome(line, became) {
  line.className = became.failed ? "failed" : "done";
  return fill(line, h("strong", {}, became.failed ? became.name : h("a", { href: `#/filing/${part(became.doc_id)}` }, became.doc_id)), became.failed ? [h("p", {}, `Not read: ${became.reason}`), h("p", {}, became.remedy)] : h("span", { class: "hint" }, ` ${became.outcome}${became.pages ? `, ${became.pages} pages` : ""} `), !became.failed && h("a", { href: "#/ask" }, "Ask about it"), became.warnings.map((each) => h("p", { class: "note warning" }, capital(each))));
}

/** One after the other: an index takes one ingest at a time. */
async function add(files, queue, reload) {
  const lines = files.map((file) => {
    const line = h("li", { class: "waiting" }, h("strong", {}, file.name), h("span", { class: "hint" }, ` ${(file.size / 1e6).toFixed(1)} MB, waiting`));
    queue.append(line);
    return line;
  });
  for (const [at, file] of files.entries()) {
    const line = lines[at];
    line.className = "reading";
    fill(line, h("strong", {}, file.name), h("span", { class: "hint" }, " being read …"), h("progress", { "aria-label": `Reading ${file.name}` }));
    try {
      const became = await (await call(`/uploads/${part(file.name)}`, { method: "PUT", body: file })).json();
      outcome(line, became);
    } catch (error) {
      line.className = "failed";
      fill(line, h("strong", {}, file.name), problem(error));
    }
    await reload().catch(() => {});
  }
}
