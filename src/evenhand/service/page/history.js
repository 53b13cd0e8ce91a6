// Rates, debts, decisions and rewards over time: an hour, a day, or all that is kept.

import * as api from "./api.js";
import { Chart } from "./chart.js";
import { el, say } from "./dom.js";
import { number, percent } from "./words.js";

const RANGES = { hour: "1 hour", day: "1 day", all: "All" };
const REFRESH = { hour: 10_000, day: 60_000, all: 60_000 };

export class History {
  /** `loaded` is told what was read. */
  constructor(name, signal, loaded) {
    this.name = name;
    this.signal = signal;
    this.loaded = loaded;
    this.range = "hour";
    this.picked = [];
    this.past = null;
    this.rates = new Chart("Rates: share of rounds played since an arm joined", percent, 0.01);
    this.debts = new Chart("Debts: plays that an arm is behind", (value) => number(value, 2), 1);
    this.pace = new Chart("Decisions and reward a minute", (value) => number(value), 1);
    this.note = el("p", { class: "note" }, "");
    const buttons = Object.entries(RANGES).map(([range, label]) =>
      el(
        "button",
        { type: "button", "aria-pressed": String(range === "hour"), onclick: () => this.show(range) },
        label,
      ),
    );
    this.buttons = new Map(Object.keys(RANGES).map((range, i) => [range, buttons[i]]));
    this.node = el(
      "section",
      { class: "card", "aria-labelledby": "over-time" },
      el("h2", { id: "over-time" }, "Over time"),
      el("div", { class: "buttons", role: "group", "aria-label": "Range" }, ...buttons),
      this.note,
      el("div", { class: "charts" }, this.rates.node, this.debts.node, this.pace.node),
    );
    this.timer = null;
    signal.addEventListener("abort", () => this.stop(), { once: true });
  }

  show(range) {
    this.range = range;
    for (const [one, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(one === range));
    }
    this.load();
  }

  pick(names) {
    this.picked = names;
    this.load();
  }

  async load() {
    clearTimeout(this.timer);
    const asked = { range: this.range, picked: this.picked };
    const arms = asked.picked.map((name) => `&arm=${encodeURIComponent(name)}`).join("");
    try {
      const path = api.bandit(this.name, `/history?range=${asked.range}${arms || "&arm="}`);
      const past = await api.get(path, this.signal);
      if (asked.range !== this.range || asked.picked !== this.picked) return;
      this.past = past;
      this.loaded(past);
      this.draw();
    } catch {
      // The connection's own line says so; the next one may succeed.
    }
    if (!this.signal.aborted) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(), REFRESH[this.range]);
    }
  }

  update(state) {
    this.now = state;
    if (this.past) this.draw();
  }

  draw() {
    const { past, now } = this;
    const live = now && now.at > (past.times.at(-1) ?? 0);
    const times = live ? [...past.times, now.at] : past.times;
    const latest = new Map((now?.arms ?? []).map((arm) => [arm.name, arm]));
    const withNow = (values, last) => (live ? [...values, last ?? null] : values);
    const names = past.arms.map((arm) => arm.name);
    const column = (list, what) =>
      past.arms.map((arm) => withNow(arm[list], latest.get(arm.name)?.[what]));
    this.rates.draw(names, times, column("rates", "rate"));
    this.debts.draw(names, times, column("debts", "debt"));
    const paces = [perMinute(past.times, past.decisions), perMinute(past.times, past.reward)];
    this.pace.draw(["decisions", "reward"], past.times, paces);
    const few = times.length < 3 ? "What happens from now on will be drawn here. " : "";
    const cut = past.complete ? "" : "Of a bandit with so many arms only totals are kept. ";
    say(this.note, few + cut);
  }

  stop() {
    clearTimeout(this.timer);
    for (const chart of [this.rates, this.debts, this.pace]) chart.destroy();
  }
}

/** The pace of a sum over time: at the end of every interval, that of the interval. */
function perMinute(times, sums) {
  const pace = (i) => (60 * (sums[i] - sums[i - 1])) / Math.max(times[i] - times[i - 1], 1);
  return times.map((at, i) => (i === 0 ? null : pace(i)));
}
