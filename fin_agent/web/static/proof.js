// The page as it looks, beside whatever cites it: the figure framed, its row and column named, zoom, pages before and after.

import { at, call, get, part } from "./api.js";
import { capital, fill, h, problem } from "./dom.js";

const pane = document.getElementById("proof");
const DPI = 140;
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
let open = null; // { place, zoom, picture, opener }
let asked = 0;

/** A link that shows a place: { doc_id, page_number, box, label, column, printed }; `around` are those beside it. */
export function proofLink(place, text, around = [place], props = {}) {
  return h(
    "a",
    {
      href: `#/filing/${part(place.doc_id)}?page=${place.page_number}`,
      class: "figure",
      title: `${place.doc_id}, page ${place.page_number}`,
      ...props,
      onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        openProof(place, around, event.currentTarget);
      },
    },
    text,
  );
}

/** Show a place. */
export function openProof(place, around = [place], opener = document.activeElement) {
  open = { place, around, zoom: open?.zoom ?? (innerWidth < 640 && place.box ? 2 : 1), opener };
  for (const each of document.querySelectorAll(".figure.open")) each.classList.remove("open");
  opener?.classList?.add("open");
  pane.hidden = false;
  document.getElementById("desk").classList.add("with-proof");
  return show();
}

export function closeProof() {
  if (pane.hidden) return;
  pane.hidden = true;
  document.getElementById("desk").classList.remove("with-proof");
  for (const each of document.querySelectorAll(".figure.open")) each.classList.remove("open");
  open?.opener?.focus?.({ preventScroll: true });
  if (open?.url) URL.revokeObjectURL(open.url);
  open = null;
}

async function show() {
  const turn = ++asked;
  const { place } = open;
  const head = h("p", { class: "hint" }, "Loading the page …");
  const sheet = h("div", { class: "sheet", tabindex: "0", "aria-label": "The page" }, h("p", { class: "hint" }, "Drawing …"));
  fill(pane, tools(null), head, sheet);
  const path = `/pages/${part(place.doc_id)}/${place.page_number}`;
  const boxes = place.box ? [place.box.map((side) => Math.round(side * 10) / 10).join(",")] : [];
  const [told, drawn] = [get(`${path}.json`), call(at(`${path}.png`, { box: boxes, dpi: DPI })).then((response) => response.blob())];
  drawn.catch(() => {}); // looked at below, where the page is known
  let page, picture;
  try {
    page = await told;
    if (turn !== asked || !open) return;
    fill(pane, tools(page), heading(page, place), sheet, figures(page));
    picture = await drawn;
    if (turn !== asked || !open) return;
  } catch (error) {
    if (turn !== asked || !open) return;
    page ? fill(sheet, problem(error, show), h("pre", { class: "text" }, page.text)) : fill(pane, tools(null), problem(error, show));
    return;
  }
  if (open.url) URL.revokeObjectURL(open.url);
  open.url = URL.createObjectURL(picture);
  const image = h("img", { src: open.url, alt: `Page ${page.page_number} of ${page.doc_id}${place.label ? `, ${place.label} framed` : ""}` });
  open.picture = image;
  fill(sheet, image);
  await image.decode().catch(() => {});
  if (turn === asked && open) toFrame(sheet, image, place);
}

function zoomed(image) {
  image.style.width = `${open.zoom * 100}%`;
}

/** The frame into the middle of what can be seen. */
function toFrame(sheet, image, place) {
  zoomed(image);
  if (!place.box) return;
  const scale = Math.min(DPI / 72, image.naturalHeight >= 1599 || image.naturalWidth >= 1599 ? 1600 / 792 : DPI / 72);
  const [x0, y0, x1, y1] = place.box;
  const shown = image.clientWidth / image.naturalWidth;
  sheet.scrollTo({ left: ((x0 + x1) / 2) * scale * shown - sheet.clientWidth / 2, top: ((y0 + y1) / 2) * scale * shown - sheet.clientHeight / 2 });
}

function heading(page, place) {
  const where = [capital(page.statement ? `${page.statement} statement` : ""), page.item && `Item ${page.item}`].filter(Boolean).join(" · ");
  return h(
    "div",
    { class: "proof-head" },
    h("h2", {}, h("a", { href: `#/filing/${part(page.doc_id)}` }, `${page.company || page.doc_id}, ${page.form}${page.fiscal_year ? ` FY${page.fiscal_year}` : ""}`)),
    h("p", { class: "hint" }, `Page ${page.page_number} of ${page.pages}${page.printed_page ? `, printed as ${page.printed_page}` : ""}${where ? ` · ${where}` : ""}`, page.edgar && [" · ", h("a", { href: page.edgar, rel: "noopener noreferrer", target: "_blank" }, "open at EDGAR")]),
    place.quoted && h("blockquote", { class: "quoted" }, place.quoted),
    place.label && h("dl", { class: "row-column" }, h("dt", {}, "Row"), h("dd", {}, place.label), place.column && [h("dt", {}, "Column"), h("dd", {}, place.column)], place.printed && [h("dt", {}, "Figure"), h("dd", { class: "number" }, place.printed)]),
  );
}

/** Every figure that was read on the page, to be framed in turn. */
function figures(page) {
  if (!page.figures.length) return null;
  const list = page.figures.map((figure) =>
    h("li", {}, h("button", { type: "button", class: "linkish", onclick: () => openProof({ ...figure }, page.figures, open.opener) }, h("span", {}, figure.label), h("span", { class: "hint" }, figure.column), h("span", { class: "number" }, figure.printed))),
  );
  return h("details", { class: "page-figures" }, h("summary", {}, `${page.figures.length} figures read on this page`), h("ul", {}, list));
}

function tools(page) {
  const turn = (by) => {
    const number = open.place.page_number + by;
    if (!page || number < 1 || number > page.pages) return;
    open.place = { doc_id: open.place.doc_id, page_number: number };
    show();
  };
  const zoom = (by) => {
    const next = ZOOMS[ZOOMS.indexOf(open.zoom) + by];
    if (!next || !open.picture) return;
    open.zoom = next;
    zoomed(open.picture);
  };
  const step = (by) => {
    const index = open.around.indexOf(open.place);
    const next = open.around[(index + by + open.around.length) % open.around.length];
    if (next) openProof(next, open.around, open.opener);
  };
  const several = open.around.length > 1 && open.around.length < 60;
  const button = (label, text, act, off = false) => h("button", { type: "button", class: "quiet", "aria-label": label, title: label, disabled: off, onclick: act }, text);
  const number = open.place.page_number;
  pane.onkeydown = (event) => {
    const acts = { Escape: closeProof, "[": () => turn(-1), "]": () => turn(1), "+": () => zoom(1), "-": () => zoom(-1), n: () => step(1), p: () => step(-1) };
    if (acts[event.key] && !event.ctrlKey && !event.metaKey) acts[event.key]();
  };
  return h(
    "div",
    { class: "tools", role: "toolbar", "aria-label": "Page" },
    several && [button("Figure before (p)", "↑", () => step(-1)), h("span", { class: "hint" }, `figure ${open.around.indexOf(open.place) + 1} of ${open.around.length}`), button("Next figure (n)", "↓", () => step(1)), h("span", { class: "gap" })],
    button("Page before ([)", "‹", () => turn(-1), !page || number <= 1),
    h("span", { class: "hint" }, `page ${number}`),
    button("Next page (])", "›", () => turn(1), !page || number >= (page?.pages ?? 0)),
    h("span", { class: "gap" }),
    button("Smaller (-)", "−", () => zoom(-1)),
    button("Larger (+)", "+", () => zoom(1)),
    h("span", { class: "push" }),
    button("Close (Esc)", "✕", closeProof),
  );
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.target.closest("dialog, textarea, #proof")) closeProof();
});
