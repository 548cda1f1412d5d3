// Calls of the server: the token where one is needed, problems as errors, events as they come.

const TOKEN = "fin-agent-token";
const CHOSEN = "fin-agent-settings";

/** What was chosen in the settings, for this tab alone: { prefix, model, preset, budget }; empty for the server's own. */
export const chosen = () => JSON.parse(sessionStorage.getItem(CHOSEN) ?? "{}");
export const choose = (settings) => sessionStorage.setItem(CHOSEN, JSON.stringify(settings));

/** What the server could not do: `what` happened, to what `subject`, and the `remedy`. */
export class Problem extends Error {
  constructor(status, told) {
    super(told.what ?? `status ${status}`);
    Object.assign(this, { status, what: told.what ?? `the server answered with status ${status}`, subject: told.subject, remedy: told.remedy });
  }
}

let askForToken = async () => null;
/** `ask` gets a token from a person; it resolves to null where none is given. */
export function onTokenNeeded(ask) {
  askForToken = ask;
}

/** A call; resolves to the response, rejects with a Problem. */
export async function call(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    let response;
    try {
      response = await fetch(`${chosen().prefix ?? ""}${path}`, { ...options, headers });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, { what: "the server cannot be reached", remedy: "Start it again with `fin-agent serve`; what was asked before is kept" });
    }
    if (response.ok) return response;
    if (response.status === 401) {
      const given = await askForToken();
      if (given) {
        sessionStorage.setItem(TOKEN, given);
        continue;
      }
    }
    throw new Problem(response.status, await response.json().catch(() => ({})));
  }
}

export const get = async (path, options) => (await call(path, options)).json();

export const post = (path, body, options = {}) =>
  call(path, { method: "POST", body: JSON.stringify(body), ...options, headers: { "Content-Type": "application/json", ...options.headers } });

/** Events of a call as they come: (kind, data). Ends where the server ends; rejects where it breaks off. */
export async function* events(path, body, signal) {
  const response = await post(path, body, { signal, headers: { Accept: "text/event-stream" } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, { what: "the server broke off in mid-answer", remedy: "Ask again: the conversation before is kept" });
    });
    if (done) return;
    held += value;
    const blocks = held.split(/\r?\n\r?\n/);
    held = blocks.pop();
    for (const block of blocks) {
      const lines = block.split(/\r?\n/);
      const kind = lines.find((line) => line.startsWith("event: "))?.slice(7);
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (kind && data) yield [kind, JSON.parse(data)];
    }
  }
}

/** An address with its query, each value safe. */
export function at(path, query = {}) {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== "" && each !== null && each !== undefined) told.append(name, each);
  }
  const asked = told.toString();
  return asked ? `${path}?${asked}` : path;
}

export const part = encodeURIComponent;
