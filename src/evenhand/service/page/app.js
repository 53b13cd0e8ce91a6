// The frame: which view is shown, who is signed in, and how the connection is.

import * as api from "./api.js";
import { BanditView } from "./bandit.js";
import { el, mark, say } from "./dom.js";
import { follow } from "./live.js";
import { Overview } from "./overview.js";
import { signIn } from "./sign-in.js";

const WORDS = {
  connecting: "connecting",
  live: "live",
  polling: "live, by asking every two seconds",
  lost: "no answer from the server, trying again",
  key: "signed out",
  gone: "not found",
};

const AGAIN = 3_000;
const main = document.getElementById("main");
const status = document.getElementById("status");
const signOut = document.getElementById("sign-out");
let current = new AbortController();

/** The bandit that the address names; none: all of them. */
function wanted() {
  const [, kind, name] = location.hash.split("/");
  if (kind !== "bandits" || !name) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function show(kind, error) {
  say(status, WORDS[kind]);
  mark(status, "data-kind", kind);
  if (kind === "key") {
    current.abort();
    api.forgetKey();
    signOut.hidden = true;
    main.replaceChildren(signIn(error, start));
    main.querySelector("input").focus();
  } else if (kind === "gone") {
    current.abort();
    main.replaceChildren(
      el("h1", {}, "There is no such bandit"),
      el("p", {}, error.message),
      el("p", {}, el("a", { href: "#/" }, "All bandits")),
    );
    wait();
  }
}

/** Look now and then whether the bandit has come back. */
function wait() {
  const name = wanted();
  setTimeout(async () => {
    if (wanted() !== name || name === null || !current.signal.aborted) return;
    const there = await api.get(api.bandit(name)).catch(() => null);
    if (there && wanted() === name && current.signal.aborted) start();
    else wait();
  }, AGAIN);
}

function start() {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const name = wanted();
  const view = name === null ? new Overview() : new BanditView(name, signal, start);
  main.replaceChildren(view.node);
  document.title = name === null ? "evenhand" : `${name} · evenhand`;
  signOut.hidden = !api.key();
  show("connecting");
  follow(
    name,
    signal,
    (event, data) => view[event]?.(data),
    (kind, error) => signal.aborted || show(kind, error),
  );
}

signOut.addEventListener("click", () => {
  api.forgetKey();
  start();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => {
  start();
  main.focus();
});
start();
