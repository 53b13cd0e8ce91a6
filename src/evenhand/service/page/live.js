// What is new, as it comes: a stream of events, or questions every two seconds where streams do not
// get through.

import * as api from "./api.js";

const SILENCE = 12_000;
const POLL = 2_000;
const POLLS = 150;
const LONGEST_WAIT = 5_000;
const TRIES = 2;

const KEY_PROBLEMS = ["no-key", "bad-key", "scope"];

function sleep(ms, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

const wantsKey = (error) => KEY_PROBLEMS.some((kind) => error.body?.type?.endsWith(`#${kind}`));

/**
 * Follow the service until the signal aborts. `told` gets every event, `status` how it goes:
 * live, polling, lost, key (one is wanted) or gone (there is no such bandit).
 */
export async function follow(name, signal, told, status) {
  let wait = 500;
  let silent = 0;
  while (!signal.aborted) {
    try {
      if (silent >= TRIES) await poll(name, signal, told, status);
      silent = (await listen(name, signal, told, status)) ? 0 : silent + 1;
      wait = 500;
    } catch (error) {
      if (signal.aborted) return;
      if (wantsKey(error)) return status("key", error);
      if (error.status === 404 && name) return status("gone", error);
      status("lost", error);
    }
    await sleep(wait, signal);
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}

/** Listen to the stream until it ends; say whether anything came through it. */
async function listen(name, signal, told, status) {
  const inner = new AbortController();
  const end = () => inner.abort();
  signal.addEventListener("abort", end, { once: true });
  let timer = setTimeout(end, SILENCE);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(end, SILENCE);
  };
  let heard = false;
  try {
    const path = name ? `v1/live?bandit=${encodeURIComponent(name)}` : "v1/live";
    const response = await api.ask(path, { signal: inner.signal });
    for await (const { event, data } of api.events(response, alive)) {
      heard = true;
      status("live");
      tell(told, event, data);
    }
    return heard;
  } catch (error) {
    // Too many watch, or something in between does not let streams through: asking may do.
    const refused = error.status === 429 || error.status >= 500;
    if (heard || (error instanceof api.Problem && !refused)) throw error;
    await api.ask("livez", { signal });
    return false;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/** Ask again and again, for some minutes; then the stream may be tried once more. */
async function poll(name, signal, told, status) {
  const news = name
    ? { state: api.bandit(name, "/state"), decisions: api.bandit(name, "/decisions") }
    : { overview: "v1/overview" };
  for (let i = 0; i < POLLS && !signal.aborted; i++) {
    for (const [event, path] of Object.entries(news)) {
      tell(told, event, await api.get(path, signal));
    }
    status("polling");
    await sleep(POLL, signal);
  }
}

/** Hand on news; a mistake of the page's own is no lost connection. */
function tell(told, event, data) {
  try {
    told(event, data);
  } catch (error) {
    reportError(error);
  }
}
