// The service, as the page speaks to it. The key is kept for this tab only, and never in an address.

const KEY = "evenhand-key";

export const key = () => sessionStorage.getItem(KEY);
export const setKey = (value) => sessionStorage.setItem(KEY, value);
export const forgetKey = () => sessionStorage.removeItem(KEY);

/** An answer that says no: the problem, as RFC 9457 has it. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** The address of a bandit, or of something of it. */
export const bandit = (name, rest = "") => `v1/bandits/${encodeURIComponent(name)}${rest}`;

/** Ask for something; the answer is a Response that is in order. */
export async function ask(path, { method = "GET", body, signal } = {}) {
  const headers = {};
  if (key()) headers.Authorization = `Bearer ${key()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    signal,
    cache: "no-store",
    credentials: "omit",
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) {
    const text = await response.text();
    let said = {};
    try {
      said = JSON.parse(text);
    } catch {
      said = { detail: text.slice(0, 300) };
    }
    throw new Problem(response.status, said);
  }
  return response;
}

export const get = async (path, signal) => (await ask(path, { signal })).json();

/** Yield the events of a stream of server-sent events, as {event, data}. */
export async function* events(response, alive) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      alive();
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const found = { event: "", data: "" };
        for (const line of block.split("\n")) {
          if (line.startsWith("event: ")) found.event = line.slice(7);
          else if (line.startsWith("data: ")) found.data += line.slice(6);
        }
        if (found.event) yield { event: found.event, data: JSON.parse(found.data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
