// The frame around all views: which one the address names, colours, keys, the token.

import { onTokenNeeded } from "./api.js";
import { fill, h, problem } from "./dom.js";
import { closeProof } from "./proof.js";

const VIEWS = { ask: "./ask.js", filings: "./filings.js", filing: "./filing.js", search: "./search.js", chart: "./chart_view.js", runs: "./runs.js", settings: "./settings.js" };
const TITLES = { ask: "Ask", filings: "Filings", filing: "Filing", search: "Search", chart: "Chart", runs: "Runs", settings: "Settings" };
const main = document.getElementById("main");
let shown = 0;

/** `#/filing/acme_2023?tab=notes` -> its view, the rest of the path, and the query. */
function route() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/").map(decodeURIComponent);
  return { view: VIEWS[view] ? view : "ask", rest, query: new URLSearchParams(query) };
}

async function show() {
  const turn = ++shown;
  const { view, rest, query } = route();
  for (const link of document.querySelectorAll("#views a")) {
    const here = link.hash === `#/${view === "filing" ? "filings" : view}`;
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
    if (here) link.parentElement.scrollTo({ left: link.offsetLeft - 60 });
  }
  document.title = `${TITLES[view]} · fin-agent`;
  if (view !== "filing" && view !== "ask") closeProof();
  try {
    const { render } = await import(VIEWS[view]);
    if (turn !== shown) return; // another view was chosen meanwhile
    const content = h("div", { class: `view ${view}` });
    fill(main, content);
    main.scrollTop = 0;
    await render(content, rest, query);
  } catch (error) {
    if (turn === shown) fill(main, h("div", { class: "view" }, problem(error, show)));
  }
}

function colours() {
  const button = document.getElementById("theme");
  const order = ["system", "light", "dark"];
  const apply = (theme) => {
    theme === "system" ? document.documentElement.removeAttribute("data-theme") : document.documentElement.setAttribute("data-theme", theme);
    button.textContent = { system: "◐", light: "☀", dark: "☾" }[theme];
    button.setAttribute("aria-label", `Colours: ${theme === "system" ? "as the system" : theme}`);
    button.title = button.getAttribute("aria-label");
  };
  let theme = localStorage.getItem("fin-agent-theme") ?? "system";
  apply(theme);
  button.addEventListener("click", () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    localStorage.setItem("fin-agent-theme", theme);
    apply(theme);
  });
}

const KEYS = { a: "#/ask", f: "#/filings", s: "#/search", c: "#/chart", r: "#/runs" };
let awaiting = false;
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (awaiting && KEYS[event.key]) {
    location.hash = KEYS[event.key];
    awaiting = false;
  } else if (event.key === "g") {
    awaiting = true;
    setTimeout(() => (awaiting = false), 1200);
  } else if (event.key === "/") {
    const field = main.querySelector("textarea, input[type=search]");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});

let asking = null;
onTokenNeeded(() => {
  asking ??= new Promise((resolve) => {
    const field = h("input", { type: "password", name: "token", autocomplete: "off", required: true, "aria-label": "Token" });
    const dialog = h(
      "dialog",
      { "aria-labelledby": "token-title" },
      h("form", { method: "dialog" }, h("h2", { id: "token-title" }, "This server needs its token"), h("p", { class: "hint" }, "Whoever runs it has it in FIN_AGENT_TOKEN. It is kept in this tab alone."), field, h("button", { class: "primary" }, "Go on")),
    );
    dialog.addEventListener("close", () => {
      asking = null;
      dialog.remove();
      resolve(field.value.trim() || null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
});

colours();
addEventListener("hashchange", show);
show();
