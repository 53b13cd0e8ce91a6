// The last decisions, each with why.

import * as api from "./api.js";
import { arrange, el, say, table } from "./dom.js";
import { clock, number, percent } from "./words.js";

const STATES = {
  awaiting: "awaiting feedback",
  told: "told",
  expired: "expired",
  cancelled: "cancelled",
};
const HEADS = ["Arm", "Chosen", "Estimate", "95% interval", "Sample", "Debt", "Price", "Probability"];

export class Decisions {
  constructor(name, signal) {
    this.name = name;
    this.signal = signal;
    this.entries = new Map();
    this.list = el("ol", { class: "decisions" });
    this.newest = [];
    const go = () => this.update(this.newest);
    this.hold = el("input", { type: "checkbox", id: "hold", onchange: go });
    this.note = el("p", { class: "note", hidden: true }, "None to show.");
    this.node = el(
      "section",
      { class: "card", "aria-labelledby": "last" },
      el("h2", { id: "last" }, "Last decisions"),
      el("p", {}, this.hold, " ", el("label", { htmlFor: "hold" }, "Hold still")),
      this.note,
      this.list,
    );
  }

  update(decisions) {
    this.newest = decisions;
    if (this.hold.checked) return;
    this.note.hidden = decisions.length > 0;
    const entries = new Map();
    for (const decision of decisions) {
      const known = this.entries.get(decision.id) ?? this.entry(decision);
      known.update(decision);
      entries.set(decision.id, known);
    }
    this.entries = entries;
    arrange(
      this.list,
      [...entries.values()].map(({ node }) => node),
    );
  }

  entry(decision) {
    const became = el("span", { class: "note" });
    const why = el("div", { class: "scroll", tabIndex: 0, role: "region" });
    why.setAttribute("aria-label", `Why round ${decision.round}`);
    const details = el(
      "details",
      { ontoggle: () => details.open && this.open(decision.id, why) },
      el(
        "summary",
        {},
        el("span", { class: "number" }, `Round ${decision.round}`),
        " ",
        el("span", { class: "note" }, clock(decision.at)),
        " ",
        el("span", { class: "name" }, decision.chosen.join(", ") || "nobody"),
        " ",
        became,
      ),
      why,
    );
    const update = ({ told, state, awake, chosen }) => {
      const known = chosen.filter((arm) => Object.hasOwn(told, arm));
      const reward = known.map((arm) => number(told[arm]));
      const words = reward.length ? `returned ${reward.join(", ")}` : STATES[state];
      say(became, `of ${awake} awake, ${state === "cancelled" ? "cancelled" : words}`);
    };
    return { node: el("li", {}, details), update };
  }

  /** Show why; whoever reads it is not to have it pulled away. */
  open(id, place) {
    this.hold.checked = true;
    if (!place.querySelector("table")) this.explain(id, place);
  }

  async explain(id, place) {
    place.replaceChildren(el("p", { class: "note" }, "Working it out."));
    try {
      const path = api.bandit(this.name, `/decisions/${encodeURIComponent(id)}`);
      const { reasons } = await api.get(path, this.signal);
      place.replaceChildren(reasons ? why(reasons) : el("p", { class: "note" }, UNKNOWN));
    } catch (error) {
      place.replaceChildren(el("p", { class: "bad" }, error.message));
    }
  }
}

const UNKNOWN =
  "What it was made from is not known: another server made it, or this one before it was started " +
  "again, many more decisions have followed, or more than 2,000 arms were awake. To keep reasons for " +
  "good, ask with explain=true.";

function why(reasons) {
  const ordered = [...reasons].sort((a, b) => b.chosen - a.chosen || (a.rank ?? 0) - (b.rank ?? 0));
  const rows = ordered.map((reason) => [
    reason.arm,
    reason.chosen ? "yes" : "no",
    number(reason.estimate),
    `${number(reason.low, 2)} to ${number(reason.high, 2)}`,
    number(reason.sample),
    number(reason.debt, 2),
    number(reason.price, 2),
    reason.probability === null ? "–" : percent(reason.probability),
  ]);
  return table("Why arms were chosen, or not", HEADS, rows);
}
