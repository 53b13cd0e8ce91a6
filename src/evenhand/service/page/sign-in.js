// The way in where the service wants a key.

import * as api from "./api.js";
import { el, say } from "./dom.js";

/** A form for the key; `done` is called when there is one to try. */
export function signIn(error, done) {
  const input = el("input", {
    id: "key",
    type: "password",
    autocomplete: "off",
    required: true,
    spellcheck: false,
    "aria-describedby": "key-note",
  });
  const refused = error?.body?.type?.endsWith("no-key") ? "" : (error?.message ?? "");
  const alert = el("p", { class: "bad", role: "alert" }, refused);
  return el(
    "form",
    {
      class: "card sign-in",
      onsubmit: (event) => {
        event.preventDefault();
        const given = input.value.trim();
        // What no header can carry is no key.
        if (!/^[\x21-\x7e]+$/.test(given)) return say(alert, "a key has letters, digits and _ only");
        api.setKey(given);
        done();
      },
    },
    el("h1", {}, "Sign in"),
    el("label", { htmlFor: "key" }, "API key"),
    input,
    el("p", { id: "key-note", class: "note" }, "It is kept in this tab until it is closed."),
    alert,
    el("button", { type: "submit", class: "main" }, "Sign in"),
  );
}
