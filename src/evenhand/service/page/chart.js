// A line chart over time, with a legend that can be read out and a table of the same numbers.

import uPlot from "./vendor/uplot.js";
import { el, say, style, table } from "./dom.js";
import { clock } from "./words.js";

const ROWS = 12;
const REFILL = 10_000;
const HEIGHT = 220;
const COLOURS = 8;

// How times are written, by how far apart they lie: in order, on a line of their own at a new day.
const DAY = "\n{YYYY}-{MM}-{DD}";
const TIMES = [
  [86400 * 28, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
  [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
  [3600, "{HH}:{mm}", DAY, null, DAY, null, null, null, 1],
  [60, "{HH}:{mm}", DAY, null, DAY, null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", DAY, null, DAY, null, null, null, 1],
];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  /** `format` writes a value; the scale goes up to `least`, or further. */
  constructor(title, format, least = 0) {
    this.title = title;
    this.least = least;
    this.format = format;
    this.names = [];
    this.data = [[]];
    this.entries = [];
    this.filled = 0;
    this.place = el("div", { class: "plot", role: "img", "aria-label": title });
    this.legend = el("ul", { class: "legend" });
    this.behind = el("div", { class: "scroll", tabIndex: 0, role: "region" });
    this.behind.setAttribute("aria-label", `${title}, as a table`);
    this.details = el(
      "details",
      { ontoggle: () => this.fill() },
      el("summary", {}, "As a table"),
      this.behind,
    );
    this.node = el(
      "figure",
      { class: "chart" },
      el("figcaption", {}, title),
      this.place,
      this.legend,
      this.details,
    );
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.place);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.redraw = () => this.build();
    this.scheme.addEventListener("change", this.redraw);
  }

  /** Draw lines: their names, the times, and a list of values each. */
  draw(names, times, columns) {
    const same = names.length === this.names.length && names.every((n, i) => n === this.names[i]);
    this.names = names;
    this.data = [times, ...columns];
    if (same && this.plot) {
      this.plot.setData(this.data);
      this.read(null);
    } else this.build();
    // A table that is being read is left alone for a while.
    if (!same || performance.now() - this.filled > REFILL) this.fill();
  }

  build() {
    this.plot?.destroy();
    const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 } };
    const lines = this.names.map((name, i) => ({
      label: name,
      stroke: colour(`--c${i % COLOURS}`),
      width: 2,
      dash: i < COLOURS ? undefined : [6, 4],
      points: { show: false },
    }));
    const options = {
      width: Math.max(this.place.clientWidth, 200),
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (plot, low, high) => [0, Math.max(1.05 * (high ?? 0), this.least)] } },
      axes: [{ ...axis, space: 70, values: TIMES }, { ...axis, size: 56, values: (plot, ticks) => ticks.map(this.format) }],
      series: [{}, ...lines],
      hooks: { setCursor: [(plot) => this.read(plot.cursor.idx)] },
    };
    this.plot = new uPlot(options, this.data, this.place);
    this.entries = this.names.map((name, i) => {
      const value = el("span", { class: "number" });
      const key = el("i", { "aria-hidden": "true", class: i < COLOURS ? "" : "dashed" });
      style(key, "--colour", `var(--c${i % COLOURS})`);
      return { value, node: el("li", {}, key, el("span", { class: "name" }, name), value) };
    });
    this.legend.replaceChildren(...this.entries.map(({ node }) => node));
    this.read(null);
  }

  /** Write the values at a point into the legend, or the last ones. */
  read(index) {
    this.entries.forEach(({ value }, i) => {
      const column = this.data[i + 1] ?? [];
      say(value, this.format(column[index ?? column.length - 1]));
    });
  }

  fill() {
    if (!this.details.open) return;
    const [times, ...columns] = this.data;
    const step = Math.max(Math.ceil(times.length / ROWS), 1);
    const rows = [];
    for (let i = times.length - 1; i >= 0; i -= step) {
      rows.push([clock(times[i]), ...columns.map((column) => this.format(column[i]))]);
    }
    this.filled = performance.now();
    const { scrollLeft, scrollTop } = this.behind;
    this.behind.replaceChildren(table(this.title, ["Time", ...this.names], rows));
    Object.assign(this.behind, { scrollLeft, scrollTop });
  }

  resize() {
    const width = this.place.clientWidth;
    if (this.plot && width && width !== this.plot.width) {
      this.plot.setSize({ width, height: HEIGHT });
    }
  }

  destroy() {
    this.watch.disconnect();
    this.scheme.removeEventListener("change", this.redraw);
    this.plot?.destroy();
  }
}
