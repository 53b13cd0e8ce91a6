// Every arm's rate against its floor, in bars, words and numbers.

import { arrange, el, mark, say, style } from "./dom.js";
import { count, number, percent, price, standing } from "./words.js";

const ORDER = { impossible: 0, behind: 1, kept: 2, free: 3, paused: 4 };
const HEADS = ["Arm", "Rate against floor", "Standing", "Estimate", "Price", "Awake", "Pending"];
const PICKED = 6;

export class Arms {
  /** `picked` is told which arms are to be drawn over time. */
  constructor(picked) {
    this.rows = new Map();
    this.picked = null;
    this.onPick = picked;
    // On narrow screens rows are blocks: without roles they would no longer be a table's.
    this.body = el("tbody", { role: "rowgroup" });
    const heads = [...HEADS, "Over time"].map((head) =>
      el("th", { scope: "col", role: "columnheader" }, head),
    );
    this.node = el(
      "section",
      { class: "card", "aria-labelledby": "promises" },
      el("h2", { id: "promises" }, "Promises"),
      el(
        "p",
        { class: "note" },
        "A bar is the share of rounds in which an arm was played; the line across it is its floor.",
      ),
      el(
        "table",
        { class: "arms", role: "table" },
        el("caption", { class: "unseen" }, "Arms, their rates, floors, estimates and prices"),
        el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...heads)),
        this.body,
      ),
    );
  }

  update(state) {
    if (this.picked === null) {
      const first = [...state.arms].sort((a, b) => b.floor - a.floor || b.rate - a.rate);
      this.pick(new Set(first.slice(0, PICKED).map((arm) => arm.name)));
    }
    const names = new Set(state.arms.map((arm) => arm.name));
    for (const name of this.rows.keys()) if (!names.has(name)) this.rows.delete(name);
    const left = [...this.picked].filter((name) => names.has(name));
    if (left.length < this.picked.size) this.pick(new Set(left));
    const most = Math.max(...state.arms.map((arm) => Math.max(arm.rate, arm.floor)), 0.01);
    const ordered = state.arms
      .map((arm, i) => [ORDER[arm.standing], i, arm])
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    arrange(
      this.body,
      ordered.map(([, , arm]) => {
        if (!this.rows.has(arm.name)) this.rows.set(arm.name, this.row(arm.name));
        return this.rows.get(arm.name).update(arm, Math.min(1.05 * most, 1));
      }),
    );
  }

  row(name) {
    const toggle = (on) => {
      const next = new Set(this.picked);
      if (on) next.add(name);
      else next.delete(name);
      this.pick(next);
    };
    return new Row(name, this.picked.has(name), toggle);
  }

  pick(names) {
    this.picked = names;
    this.onPick([...names]);
  }
}

class Row {
  constructor(name, drawn, toggle) {
    this.bar = el("div", { class: "bar", "aria-hidden": "true" }, el("i"), el("b"));
    this.rate = el("span", { class: "number" });
    this.interval = el("div", { class: "interval", "aria-hidden": "true" }, el("i"), el("b"));
    this.estimate = el("span", { class: "number" });
    this.standing = el("td", { role: "cell", class: "standing", "data-label": "Standing" });
    this.price = el("td", { role: "cell", class: "price", "data-label": "Price" });
    this.awake = el("td", { role: "cell", class: "number", "data-label": "Awake" });
    this.pending = el("td", { role: "cell", class: "number", "data-label": "Pending" });
    const box = el("input", {
      type: "checkbox",
      checked: drawn,
      "aria-label": `draw ${name} over time`,
      onchange: () => toggle(box.checked),
    });
    this.node = el(
      "tr",
      { role: "row" },
      el("th", { scope: "row", role: "rowheader", class: "name" }, name),
      el("td", { role: "cell", "data-label": "Rate against floor" }, this.bar, this.rate),
      this.standing,
      el("td", { role: "cell", "data-label": "Estimate" }, this.interval, this.estimate),
      this.price,
      this.awake,
      this.pending,
      el("td", { role: "cell", class: "check", "data-label": "Over time" }, box),
    );
  }

  update(arm, most) {
    mark(this.node, "data-standing", arm.standing);
    style(this.bar, "--rate", Math.min(arm.rate / most, 1).toFixed(3));
    style(this.bar, "--floor", arm.floor > 0 ? (arm.floor / most).toFixed(3) : "-1");
    const against = arm.floor > 0 ? `${percent(arm.rate)} of ${percent(arm.floor)}` : null;
    say(this.rate, against ?? percent(arm.rate));
    say(this.standing, standing(arm));
    style(this.interval, "--low", arm.low.toFixed(3));
    style(this.interval, "--high", arm.high.toFixed(3));
    style(this.interval, "--mean", arm.estimate.toFixed(3));
    say(this.estimate, `${number(arm.estimate)} (${number(arm.low, 2)} to ${number(arm.high, 2)})`);
    say(this.price, price(arm));
    say(this.awake, percent(arm.awake_rate));
    say(this.pending, count(arm.pending));
    return this.node;
  }
}
