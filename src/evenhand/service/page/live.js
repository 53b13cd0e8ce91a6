// What is new, as it comes: a stream of events, or questions every two seconds where streams do not
// get through.

import * as api from "./api.js";

const SILENCE = 12_000;
const POLL = 2_000;
const LONGEST_WAIT = 5_000;
const TRIES = 2;

const sleep = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });

/**
 * Follow the service until the signal aborts. `told` gets every event, `status` how it goes:
 * live, polling, lost, key (one is wanted) or gone (there is no such bandit).
 */
export async function follow(name, signal, told, status) {
  let wait = 500;
  let silent = 0;
  while (!signal.aborted) {
    try {
      if (silent < TRIES) {
        silent = (await listen(name, signal, told, status)) ? 0 : silent + 1;
      } else {
        await poll(name, signal, told, status);
      }
      wait = 500;
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401 || error.status === 403) return status("key", error);
      if (error.status === 404 && name) return status("gone", error);
      status("lost", error);
      silent = 0;
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
      told(event, data);
    }
    return heard;
  } catch (error) {
    if (heard || error instanceof api.Problem) throw error;
    await api.ask("livez", { signal });
    return false;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/** Ask again and again. */
async function poll(name, signal, told, status) {
  while (!signal.aborted) {
    told("overview", await api.get("v1/overview", signal));
    if (name) {
      told("state", await api.get(api.bandit(name, "/state"), signal));
      told("decisions", await api.get(api.bandit(name, "/decisions?limit=50"), signal));
    }
    status("polling");
    await sleep(POLL, signal);
  }
}
