// Elements are made here only, and texts become text nodes: nothing that a filing says is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: h("a", { href: "#/ask", onclick: go }, "Ask"). Children may be nested lists; null and false are left out. */
export function h(tag, props = {}, ...children) {
  return built(document.createElement(tag), props, children);
}

/** An element of a drawing. */
export function s(tag, props = {}, ...children) {
  return built(document.createElementNS(SVG, tag), props, children);
}

function built(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

/** Put these children in place of what is there. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false));
  return element;
}

/** Tell something to whoever looks, and to screen readers, for some seconds; what leads somewhere stays longer. */
export function tell(content, kind = "") {
  const line = h("p", { class: kind }, content);
  document.getElementById("told").append(line);
  setTimeout(() => line.remove(), Array.isArray(content) ? 60_000 : 6000);
  line.addEventListener("click", () => line.remove());
}

/** What went wrong, and what to do about it. */
export function problem(error, again = null) {
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, capital(error.what ?? error.message ?? String(error))), error.subject ? ` (${error.subject})` : ""),
    error.remedy && h("p", {}, error.remedy),
    again && h("button", { type: "button", onclick: again }, "Try again"),
  );
}

export const capital = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");
export const plural = (number, noun) => `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;

/** Save a file that the server gave, or that was drawn here. */
export function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
