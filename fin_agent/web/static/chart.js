// A chart as SVG: lines over years, one for each company. Each point leads to its page.

import { h, s, save } from "./dom.js";
import { follow } from "./proof.js";

const HEIGHT = 340, LEFT = 66, RIGHT = 16, TOP = 16, BOTTOM = 34;
let WIDTH = 760; // of the drawing that was made last: as narrow as the window, so that its words stay legible
const SHAPES = ["circle", "square", "diamond", "triangle"];

/** `series`: [{ company, points: [{ fiscal_year, value, unit, printed, ... }] }]. */
export function chart(series, title) {
  WIDTH = Math.max(340, Math.min(760, innerWidth - 40));
  const points = series.flatMap((each) => each.points);
  const years = [...new Set(points.map((each) => each.fiscal_year))].sort((a, b) => a - b);
  const values = points.map((each) => each.value);
  const ticks = scale(Math.min(0, ...values), Math.max(0, ...values));
  const x = (year) => LEFT + ((WIDTH - LEFT - RIGHT) * (years.indexOf(year) + 0.5)) / years.length;
  const y = (value) => TOP + ((HEIGHT - TOP - BOTTOM) * (ticks.at(-1) - value)) / (ticks.at(-1) - ticks[0] || 1);
  const drawing = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "group", "aria-label": title, xmlns: "http://www.w3.org/2000/svg" },
    ticks.map((tick) => [s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), class: tick === 0 ? "zero" : "grid" }), s("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, short(tick, points[0]?.unit))]),
    years.map((year) => s("text", { x: x(year), y: HEIGHT - 10, "text-anchor": "middle" }, periodOf(points, year))),
    series.map((each, at) => [
      s("polyline", { points: each.points.map((point) => `${x(point.fiscal_year)},${y(point.value)}`).join(" "), class: `series s${at % 6}` }),
      each.points.map((point) => s("g", { class: `point s${at % 6}`, tabindex: "0", role: "button", "aria-label": `${each.company}, ${periodOf([point])}: ${point.printed}`, onclick: (event) => follow(point, each.points, event.currentTarget), onkeydown: (event) => ["Enter", " "].includes(event.key) && (event.preventDefault(), follow(point, each.points, event.currentTarget)) }, s("title", {}, `${each.company}, ${periodOf([point])}: ${point.printed}`), s("circle", { class: "target", cx: x(point.fiscal_year), cy: y(point.value), r: 12 }), shape(SHAPES[at % 4], x(point.fiscal_year), y(point.value)))),
    ]),
  );
  const legend = h("ul", { class: "legend" }, series.map((each, at) => h("li", { class: `s${at % 6}` }, s("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true", class: `point s${at % 6}` }, shape(SHAPES[at % 4], 7, 7)), each.company)));
  const take = h("p", { class: "take" }, h("button", { type: "button", class: "quiet", onclick: () => save(new Blob([alone(drawing)], { type: "image/svg+xml" }), "chart.svg") }, "SVG"), h("button", { type: "button", class: "quiet", onclick: () => png(drawing) }, "PNG"));
  return h("figure", {}, drawing, h("figcaption", {}, legend, take));
}

/** What the points of a year are of: `FY2023`, `Q2 FY2023`, `9M FY2023`; all points of a chart cover spans of one length. */
export function periodOf([{ quarter, months, fiscal_year }], year = fiscal_year) {
  return `${quarter ? `Q${quarter} ` : months % 12 ? `${months}M ` : ""}FY${year}`;
}

function shape(kind, x, y) {
  const r = 4.5;
  if (kind === "circle") return s("circle", { cx: x, cy: y, r });
  const paths = { square: `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`, diamond: `M${x},${y - r - 1}l${r + 1},${r + 1}l${-r - 1},${r + 1}l${-r - 1},${-r - 1}z`, triangle: `M${x},${y - r - 1}l${r + 1},${2 * r}h${-2 * r - 2}z` };
  return s("path", { d: paths[kind] });
}

/** Round steps that hold all of it. */
function scale(low, high) {
  const raw = (high - low || 1) / 5;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * unit).find((each) => each >= raw);
  const ticks = [];
  for (let tick = Math.floor(low / step) * step; tick < high + step * 0.999; tick += step) ticks.push(Math.abs(tick) < step / 1e6 ? 0 : tick);
  return ticks;
}

function short(value, unit = "") {
  const told = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }).format(value);
  return unit === "percent" ? `${told}%` : unit.startsWith("USD") ? told.replace(/^(-?)/, "$1$") : told;
}

/** The drawing with its looks written into it, so that it stands alone. */
function alone(drawing) {
  const copy = drawing.cloneNode(true);
  const from = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, at) => {
    const looks = getComputedStyle(from[at]);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "opacity"]) if (looks.getPropertyValue(name)) element.setAttribute(name, looks.getPropertyValue(name));
  });
  copy.setAttribute("width", WIDTH);
  copy.setAttribute("height", HEIGHT);
  copy.prepend(s("rect", { width: WIDTH, height: HEIGHT, fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

async function png(drawing) {
  const address = URL.createObjectURL(new Blob([alone(drawing)], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = h("canvas", { width: WIDTH * 2, height: HEIGHT * 2 });
  canvas.getContext("2d").drawImage(image, 0, 0, WIDTH * 2, HEIGHT * 2);
  canvas.toBlob((blob) => save(blob, "chart.png"), "image/png");
  URL.revokeObjectURL(address);
}
