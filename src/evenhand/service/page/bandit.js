// One bandit: its promises, how they went over time, what they cost, and its last decisions.

import { Arms } from "./arms.js";
import { Decisions } from "./decisions.js";
import { arrange, el, say } from "./dom.js";
import { History } from "./history.js";
import { WhatIf } from "./what-if.js";
import { count, number, plural } from "./words.js";

const MINUTE = 60;

export class BanditView {
  /** `again` is called if it turns out to be another bandit of the same name. */
  constructor(name, signal, again) {
    this.again = again;
    this.decided = 0;
    this.about = el("p", { class: "lead" }, "");
    this.warnings = el("div", { role: "alert" });
    this.tiles = new Tiles();
    this.arms = new Arms((names) => this.history.pick(names));
    this.history = new History(name, signal, (past) => this.tiles.seed(past));
    this.whatIf = new WhatIf(name, signal);
    this.last = new Decisions(name, signal);
    this.node = el(
      "div",
      {},
      el("p", { class: "crumbs" }, el("a", { href: "#/" }, "Bandits")),
      el("h1", { class: "name" }, name),
      this.about,
      this.warnings,
      this.tiles.node,
      this.arms.node,
      this.whatIf.node,
      this.history.node,
      this.last.node,
    );
  }

  state(state) {
    const start = performance.now();
    if (state.decisions < this.decided) return this.again();
    this.decided = state.decisions;
    say(
      this.about,
      `${plural(state.arms.length, "arm")}, at most ${plural(state.plays, "play")} a round, ` +
        `${plural(state.rounds, "round")}, policy ${state.policy}`,
    );
    const said = state.warnings.map((warning) => warning.detail);
    const old = [...this.warnings.children].map((node) => node.textContent);
    if (said.join("\n") !== old.join("\n")) {
      arrange(
        this.warnings,
        said.map((text) => el("p", { class: "warning" }, text)),
      );
    }
    this.tiles.update(state);
    this.arms.update(state);
    this.history.update(state);
    this.whatIf.update(state);
    // One at a time: a page that stays open is not to gather them.
    performance.clearMeasures("evenhand-update");
    performance.measure("evenhand-update", { start });
  }

  decisions(list) {
    this.last.update(list.decisions);
  }
}

/** Five numbers that say how busy it is. */
class Tiles {
  constructor() {
    this.past = [];
    this.values = new Map();
    const tile = ([id, label, note]) => {
      const value = el("dd", {}, "–");
      this.values.set(id, value);
      return el("div", { class: "tile" }, el("dt", {}, `${label} ${note}`), value);
    };
    const tiles = [
      ["decisions", "Decisions", "a minute"],
      ["rewards", "Reward", "a minute"],
      ["per-round", "Reward", "a round, since the beginning"],
      ["pending", "Plays", "awaiting feedback"],
      ["expired", "Plays", "expired without feedback"],
    ];
    this.node = el("dl", { class: "tiles" }, ...tiles.map(tile));
  }

  /** Take in what was known before the page was opened. */
  seed(history) {
    if (this.past.length > MINUTE / 2) return;
    const known = history.times.map((at, i) => ({
      at,
      decisions: history.decisions[i],
      reward: history.reward[i],
    }));
    const first = this.past[0]?.at ?? Infinity;
    this.past = [...known.filter(({ at }) => at < first).slice(-MINUTE), ...this.past];
    if (this.now) this.update(this.now);
  }

  update(state) {
    this.now = state;
    const { at, decisions, reward } = state;
    if (this.past.at(-1)?.at !== at) this.past.push({ at, decisions, reward });
    while (this.past.length > 2 && this.past[1].at <= at - MINUTE) this.past.shift();
    const first = this.past[0];
    // What is missing between two points is time in which nothing happened.
    const minutes = Math.min(Math.max(at - first.at, 1), MINUTE) / MINUTE;
    const perMinute = (what) => (state[what] - first[what]) / minutes;
    const pending = state.arms.reduce((sum, arm) => sum + arm.pending, 0);
    this.say("decisions", this.past.length > 1 ? count(perMinute("decisions")) : "–");
    this.say("rewards", this.past.length > 1 ? number(perMinute("reward")) : "–");
    this.say("per-round", state.told ? number(state.reward / state.rounds) : "–");
    this.say("pending", count(pending));
    this.say("expired", count(state.expired));
  }

  say(id, text) {
    say(this.values.get(id), text);
  }
}
