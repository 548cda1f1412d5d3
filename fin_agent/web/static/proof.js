// The page as it looks, beside whatever cites it: the figure framed, its row and column named, zoom, pages before and after.

import { at, call, get, part } from "./api.js";
import { capital, fill, h, problem } from "./dom.js";

const pane = document.getElementById("proof");
const DPI = 140;
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
let open = null; // { place, around, zoom, opener, pages, picture, dpi }
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
        follow(place, around, event.currentTarget);
      },
    },
    text,
  );
}

/** Show a place to somebody who chose it: the pane's keys and controls are at hand, and Esc leads back. */
export function follow(place, around, opener) {
  openProof(place, around, opener);
  pane.querySelector(".sheet").focus({ preventScroll: true });
}

/** Show a place. */
export function openProof(place, around = [place], opener = document.activeElement) {
  const pages = open?.place.doc_id === place.doc_id ? open.pages : undefined;
  if (open?.url) URL.revokeObjectURL(open.url);
  open = { place, around, zoom: open?.zoom ?? (innerWidth < 640 && place.box ? 2 : 1), opener, pages };
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
  put(tools(), head, sheet);
  const path = `/pages/${part(place.doc_id)}/${place.page_number}`;
  const boxes = place.box ? [place.box.map((side) => Math.round(side * 10) / 10).join(",")] : [];
  const [told, drawn] = [get(`${path}.json`), call(at(`${path}.png`, { box: boxes, dpi: DPI }))];
  drawn.catch(() => {}); // looked at below, where the page is known
  let page, response, picture;
  try {
    page = await told;
    if (turn !== asked || !open) return;
    open.pages = page.pages;
    put(tools(), heading(page, place), sheet, figures(page));
    response = await drawn;
    picture = await response.blob();
    if (turn !== asked || !open) return;
  } catch (error) {
    if (turn !== asked || !open) return;
    page ? fill(sheet, problem(error, show), h("pre", { class: "text" }, page.text)) : put(tools(), problem(error, show));
    return;
  }
  if (open.url) URL.revokeObjectURL(open.url);
  open.url = URL.createObjectURL(picture);
  const image = h("img", { src: open.url, alt: `Page ${page.page_number} of ${page.doc_id}${place.label ? `, ${place.label} framed` : ""}` });
  open.picture = image;
  open.dpi = Number(response.headers.get("Picture-DPI")) || DPI;
  fill(sheet, image);
  await image.decode().catch(() => {});
  if (turn !== asked || !open) return;
  image.style.width = `${open.zoom * 100}%`;
  scrollTo(middleOfFrame() ?? { x: 0.5, y: 0 });
}

/** Put these in the pane; who was at one of its controls is at the same one again. */
function put(...content) {
  const held = pane.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  fill(pane, content);
  if (held === null) return;
  const same = [...pane.querySelectorAll("[aria-label]")].find((each) => each.getAttribute("aria-label") === held && !each.disabled);
  (same ?? pane.querySelector(".sheet") ?? pane.querySelector("button")).focus({ preventScroll: true });
}

/** The middle of the frame as a share of the picture, or null where nothing is framed. */
function middleOfFrame() {
  const [x0, y0, x1, y1] = open.place.box ?? [];
  if (x0 === undefined) return null;
  const inch = open.dpi / 72;
  return { x: (((x0 + x1) / 2) * inch) / open.picture.naturalWidth, y: (((y0 + y1) / 2) * inch) / open.picture.naturalHeight };
}

/** A place of the picture, given as a share of it, into the middle of what can be seen. */
function scrollTo({ x, y }) {
  const sheet = open.picture.parentElement;
  sheet.scrollTo({ left: open.picture.offsetLeft + x * open.picture.clientWidth - sheet.clientWidth / 2, top: open.picture.offsetTop + y * open.picture.clientHeight - sheet.clientHeight / 2 });
}

/** Enlarge: the frame stays in sight where it was in sight, else what was in the middle stays there. */
function zoom(by) {
  const next = ZOOMS[ZOOMS.indexOf(open.zoom) + by];
  const { picture } = open;
  if (!next || !picture?.isConnected) return;
  const sheet = picture.parentElement;
  const seen = { x: (sheet.scrollLeft + sheet.clientWidth / 2 - picture.offsetLeft) / picture.clientWidth, y: (sheet.scrollTop + sheet.clientHeight / 2 - picture.offsetTop) / picture.clientHeight };
  const frame = middleOfFrame();
  const inSight = frame && Math.abs(frame.x - seen.x) * picture.clientWidth < sheet.clientWidth / 2 && Math.abs(frame.y - seen.y) * picture.clientHeight < sheet.clientHeight / 2;
  open.zoom = next;
  picture.style.width = `${next * 100}%`;
  scrollTo(inSight ? frame : seen);
}

function turnPage(by) {
  const number = open.place.page_number + by;
  if (!open.pages || number < 1 || number > open.pages) return;
  open.place = { doc_id: open.place.doc_id, page_number: number };
  show();
}

function step(by) {
  const index = open.around.indexOf(open.place);
  const next = open.around[(index + by + open.around.length) % open.around.length];
  if (next) openProof(next, open.around, open.opener);
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

function tools() {
  const several = open.around.length > 1 && open.around.length < 60;
  const button = (label, text, act, off = false) => h("button", { type: "button", class: "quiet", "aria-label": label, title: label, disabled: off, onclick: act }, text);
  const number = open.place.page_number;
  return h(
    "div",
    { class: "tools", role: "toolbar", "aria-label": "Page" },
    several && [button("Figure before (p)", "↑", () => step(-1)), h("span", { class: "hint" }, `figure ${open.around.indexOf(open.place) + 1} of ${open.around.length}`), button("Next figure (n)", "↓", () => step(1)), h("span", { class: "gap" })],
    button("Page before ([)", "‹", () => turnPage(-1), !open.pages || number <= 1),
    h("span", { class: "hint" }, `page ${number}`),
    button("Next page (])", "›", () => turnPage(1), !open.pages || number >= open.pages),
    h("span", { class: "gap" }),
    button("Smaller (-)", "−", () => zoom(-1)),
    button("Larger (+)", "+", () => zoom(1)),
    h("span", { class: "push" }),
    button("Close (Esc)", "✕", closeProof),
  );
}

const ACTS = { Escape: closeProof, "[": () => turnPage(-1), "]": () => turnPage(1), "+": () => zoom(1), "-": () => zoom(-1), n: () => step(1), p: () => step(-1) };
document.addEventListener("keydown", (event) => {
  if (!open || !ACTS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest(event.key === "Escape" ? "dialog, textarea" : "dialog, textarea, input, select")) return;
  ACTS[event.key]();
});
