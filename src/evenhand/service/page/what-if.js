// What if a floor were another: the optimum under what was measured, and what a change would cost.

import * as api from "./api.js";
import { el, mark, say, table } from "./dom.js";
import { ROUNDING, number, percent } from "./words.js";

const PAUSE = 60;
const REFRESH = 5_000;

export class WhatIf {
  constructor(name, signal) {
    this.name = name;
    this.signal = signal;
    this.floors = new Map();
    this.moved = new Map();
    this.asked = 0;
    this.arm = el("select", { id: "what-if-arm", onchange: () => this.aim() });
    // Until it is known which floors there are, there is nothing to move.
    this.controls = el("fieldset", { class: "controls", disabled: true });
    const bounds = { min: 0, max: 100, step: 0.5, value: 0 };
    const move = ({ target }) => (target.value ? this.move(Number(target.value)) : this.aim());
    this.slider = el("input", { type: "range", id: "what-if-floor", ...bounds, oninput: move });
    this.exact = el("input", { type: "number", id: "what-if-exact", ...bounds, step: 0.1 });
    this.exact.addEventListener("change", move);
    this.controls.append(
      el("legend", { class: "unseen" }, "A floor"),
      el("label", { htmlFor: "what-if-arm" }, "Arm"),
      this.arm,
      el("label", { htmlFor: "what-if-floor" }, "Floor"),
      this.slider,
      el("label", { htmlFor: "what-if-exact", class: "unseen" }, "Floor in per cent"),
      el("span", {}, this.exact, " %"),
    );
    this.verdict = el("p", { class: "verdict", role: "status" });
    this.changes = el("ul", { class: "changes" });
    this.apply = el("button", { type: "button", class: "main", onclick: () => this.confirm() });
    say(this.apply, "Apply");
    this.back = el("button", { type: "button", onclick: () => this.reset() }, "Put back");
    this.apply.disabled = this.back.disabled = true;
    this.behind = el("div", { class: "scroll", tabIndex: 0, role: "region" });
    this.behind.setAttribute("aria-label", "Rates and prices that would be optimal");
    this.dialog = el("dialog", { "aria-labelledby": "confirm-title" });
    this.node = el(
      "section",
      { class: "card", "aria-labelledby": "what-if" },
      el("h2", { id: "what-if" }, "What if"),
      el(
        "p",
        { class: "note" },
        "Move a floor and see the best that could be had then, under the estimates and awake " +
          "rates measured so far, if arms wake independently. Nothing changes until it is applied.",
      ),
      this.controls,
      this.verdict,
      this.changes,
      el("div", { class: "buttons" }, this.apply, this.back),
      el("details", { open: true }, el("summary", {}, "Rates and prices that would be optimal"), this.behind),
      this.dialog,
    );
  }

  update(state) {
    this.controls.disabled = false;
    const arms = state.arms.filter((arm) => !arm.paused);
    const names = arms.map((arm) => arm.name);
    this.floors = new Map(arms.map((arm) => [arm.name, arm.floor]));
    const gone = [...this.moved.keys()].filter((name) => !this.floors.has(name));
    for (const name of gone) this.moved.delete(name);
    const shown = [...this.arm.options].map((option) => option.value);
    const first = shown.length === 0;
    if (names.join("\n") !== shown.join("\n")) {
      const chosen = this.arm.value;
      this.arm.replaceChildren(...names.map((name) => el("option", { value: name }, short(name))));
      const promised = arms.find((arm) => arm.floor > 0) ?? arms[0];
      this.arm.value = this.floors.has(chosen) ? chosen : promised?.name;
    }
    if (first || (!this.moved.has(this.arm.value) && document.activeElement !== this.exact)) {
      this.aim(false);
    }
    // As long as nobody has moved a floor, the best that could be had follows what is measured.
    const old = performance.now() - this.answered > REFRESH;
    if (first || gone.length || (old && this.moved.size === 0)) this.ask();
  }

  /** Let the slider stand where the chosen arm's floor is. */
  aim(ask = true) {
    const floor = this.moved.get(this.arm.value) ?? this.floors.get(this.arm.value) ?? 0;
    this.set(100 * floor);
    if (ask) this.ask();
  }

  set(points) {
    const text = String(Math.round(1000 * points) / 1000);
    if (this.slider.value !== text) this.slider.value = text;
    if (this.exact.value !== text) this.exact.value = text;
    mark(this.slider, "aria-valuetext", `${text} per cent of rounds`);
  }

  move(points) {
    const floor = Math.min(Math.max(points, 0), 100) / 100;
    if (floor === this.floors.get(this.arm.value)) this.moved.delete(this.arm.value);
    else this.moved.set(this.arm.value, floor);
    this.set(100 * floor);
    // Earlier answers, and one that is still under way, are about other floors.
    this.asked++;
    this.apply.disabled = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  reset() {
    this.moved.clear();
    this.aim();
  }

  /** Ask anew; of several questions under way only the last one counts. Say whether it did. */
  async ask() {
    const turn = ++this.asked;
    this.answered = performance.now();
    this.question?.abort();
    this.question = new AbortController();
    const signal = AbortSignal.any([this.signal, this.question.signal]);
    try {
      const body = { floors: Object.fromEntries(this.moved) };
      const response = await api.ask(api.bandit(this.name, "/what-if"), { method: "POST", body, signal });
      const answer = await response.json();
      if (turn === this.asked) this.show(answer);
    } catch (error) {
      if (!signal.aborted && turn === this.asked) this.complain(error);
      return false;
    }
    return turn === this.asked;
  }

  complain(error) {
    this.verdict.dataset.kind = "bad";
    say(this.verdict, error.message);
  }

  show(answer) {
    this.answer = answer;
    this.verdict.dataset.kind = answer.feasible ? "good" : "bad";
    say(this.verdict, answer.feasible ? this.cost(answer) : answer.detail);
    this.list();
    this.behind.replaceChildren(
      answer.feasible
        ? table(
            "Rates and prices that would be optimal",
            ["Arm", "Floor", "Optimal rate", "Price of a point", "Estimate", "Awake"],
            answer.arms.map((arm) => [
              arm.name,
              percent(arm.floor),
              percent(arm.rate),
              number(arm.price / 100, 2),
              number(arm.mean),
              percent(arm.awake_rate),
            ]),
          )
        : el("p", { class: "note" }, "There is no optimum: the floors do not fit."),
    );
  }

  /** List what has been moved. */
  list() {
    this.apply.disabled = this.back.disabled = this.moved.size === 0;
    const changes = [...this.moved].map(([name, floor]) => this.change(name, floor));
    const shown = [...this.changes.children].map((node) => node.textContent);
    if (changes.join("\n") === shown.join("\n")) return;
    this.changes.replaceChildren(...changes.map((text) => el("li", {}, text)));
  }

  change(name, floor) {
    return `${name}: ${percent(this.floors.get(name))} to ${percent(floor)}`;
  }

  /** What the floors would cost, in words. */
  cost({ reward, reward_now: now, reward_without_floors: free }) {
    const total = `All floors together cost ${number(Math.max(free - reward, 0), 2)} of ${number(free)}.`;
    const best = `The best that could be had: ${number(reward, 4)} reward a round. ${total}`;
    if (this.moved.size === 0) return best;
    if (now === null) return `${best} With the present floors there is none: they do not fit.`;
    const less = now - reward;
    if (Math.abs(less) < ROUNDING + 1e-9 * free) return `This would cost nothing. ${best}`;
    const word = less > 0 ? "cost" : "gain";
    return `This would ${word} ${number(Math.abs(less), 2)} reward a round. ${best}`;
  }

  /** Ask once more before anything is changed, and say what it will cost by what is known now. */
  async confirm() {
    clearTimeout(this.timer);
    if (!(await this.ask()) || this.moved.size === 0) return;
    const { answer } = this;
    const yes = el("button", { type: "button", class: "main" }, "Change the floors");
    const no = el("button", { type: "button" }, "Leave them");
    const close = () => this.dialog.close();
    no.addEventListener("click", close);
    yes.addEventListener("click", () => (close(), this.changeAll()));
    const words = answer.feasible
      ? this.cost(answer)
      : `These floors cannot all be kept. ${answer.detail}`;
    this.dialog.replaceChildren(
      el("h2", { id: "confirm-title" }, "Change floors?"),
      el("ul", {}, ...[...this.moved].map(([n, floor]) => el("li", {}, this.change(n, floor)))),
      el("p", {}, words),
      el("div", { class: "buttons" }, yes, no),
    );
    this.dialog.showModal();
  }

  async changeAll() {
    // Floors that fall make room for those that rise.
    const falls = ([name, floor]) => floor - this.floors.get(name);
    const changes = [...this.moved].sort((a, b) => falls(a) - falls(b));
    const done = [];
    this.asked++;
    try {
      for (const [name, floor] of changes) {
        const path = api.bandit(this.name, `/arms/${encodeURIComponent(name)}`);
        await api.ask(path, { method: "PATCH", body: { floor } });
        done.push(this.change(name, floor));
        this.floors.set(name, floor);
        this.moved.delete(name);
      }
      this.verdict.dataset.kind = "good";
      say(this.verdict, "Applied: the new floors count from now on.");
    } catch (error) {
      const before = done.length ? `Applied so far: ${done.join("; ")}. ` : "";
      this.complain(new Error(`${before}Not applied: ${error.message}.`));
    }
    this.answered = performance.now();
    this.list();
  }
}

/** A name that fits into a list; characters may take two places in a string. */
function short(name) {
  const letters = [...name];
  return letters.length > 40 ? `${letters.slice(0, 39).join("")}…` : name;
}
