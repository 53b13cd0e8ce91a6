// All bandits at a glance: whose floors are kept, who is behind, what cannot be kept.

import { arrange, el, mark, say } from "./dom.js";
import { count, number, plural } from "./words.js";

const EXAMPLE = `curl -X PUT ${location.origin}/v1/bandits/shelf -d '{"plays": 1, "arms": [
  {"name": "news", "floor": 0.2}, {"name": "arts", "floor": 0.3}, {"name": "sport"}]}'`;

export class Overview {
  constructor() {
    this.rows = new Map();
    this.summary = el("p", { class: "lead" }, "");
    this.list = el("ul", { class: "bandits" });
    this.empty = el(
      "div",
      { class: "card", hidden: true },
      el("p", {}, "There is no bandit yet. To create one:"),
      el("pre", { tabIndex: 0 }, EXAMPLE),
    );
    this.node = el("div", {}, el("h1", {}, "Bandits"), this.summary, this.list, this.empty);
  }

  overview({ bandits }) {
    this.empty.hidden = bandits.length > 0;
    const total = (what) => bandits.reduce((sum, bandit) => sum + bandit[what], 0);
    say(
      this.summary,
      bandits.length
        ? `${plural(bandits.length, "bandit")}, ${plural(total("floors"), "floor")}: ` +
            `${count(total("kept"))} kept, ${count(total("behind"))} behind, ` +
            `${count(total("impossible"))} that cannot be kept.`
        : "",
    );
    const names = new Set(bandits.map((bandit) => bandit.name));
    for (const name of this.rows.keys()) if (!names.has(name)) this.rows.delete(name);
    arrange(
      this.list,
      bandits.map((bandit) => {
        if (!this.rows.has(bandit.name)) this.rows.set(bandit.name, new Row(bandit.name));
        return this.rows.get(bandit.name).update(bandit);
      }),
    );
  }
}

class Row {
  constructor(name) {
    this.words = el("p", { class: "words" });
    this.facts = el("p", { class: "note" });
    this.warning = el("p", { class: "bad" });
    const link = el("a", { href: `#/bandits/${encodeURIComponent(name)}` }, name);
    this.node = el(
      "li",
      { class: "card bandit" },
      el("h2", {}, link),
      this.words,
      this.facts,
      this.warning,
    );
  }

  update(bandit) {
    const parts = [];
    if (bandit.kept) parts.push(`${plural(bandit.kept, "floor")} kept`);
    if (bandit.behind) parts.push(`${bandit.behind} behind`);
    if (bandit.impossible) parts.push(`${bandit.impossible} cannot be kept`);
    say(this.words, parts.join(", ") || "no floors");
    const worst = bandit.impossible ? "impossible" : bandit.behind ? "behind" : "kept";
    mark(this.node, "data-standing", bandit.floors ? worst : "free");
    const debt = bandit.largest_debt;
    say(
      this.facts,
      `${plural(bandit.arms, "arm")}, ${plural(bandit.rounds, "round")}, ` +
        `${plural(bandit.pending, "play")} awaiting feedback, largest debt ${number(debt, 2)}`,
    );
    say(this.warning, bandit.warnings.map((warning) => warning.detail).join(" "));
    return this.node;
  }
}
