// Numbers as people read them.

const MOST_DIGITS = 6;
const SMALLEST = 1e-5;
const LARGEST = 1e9;
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
// Made once each: to make one takes longer than to write a table.
const formats = Array.from({ length: MOST_DIGITS + 1 }, (_, digits) => {
  const least = Math.min(digits, 1);
  const options = { minimumFractionDigits: least, maximumFractionDigits: digits };
  return new Intl.NumberFormat("en", options);
});

export const count = (value) => whole.format(value);

/** A number with as many digits as matter: 12.3, 0.45, 0.0067. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= LARGEST || (size > 0 && size < SMALLEST)) return value.toExponential(1);
  if (Number.isInteger(value)) return count(value);
  const decimals = digits - 1 - Math.floor(Math.log10(size));
  return formats[Math.min(Math.max(decimals, 0), MOST_DIGITS)].format(value);
}

export const percent = (share) =>
  Number.isFinite(share) ? `${(100 * share).toFixed(1)}%` : "–";

export const plural = (n, one) => `${count(n)} ${n === 1 ? one : `${one}s`}`;

/** What is not worth a word: sums of many numbers are off by as much. */
export const ROUNDING = 1e-12;

/** How an arm stands to its floor, in a few words. */
export function standing(arm) {
  if (arm.standing === "paused") return "paused";
  if (arm.standing === "free") return "no floor";
  const plays = (n) => `${number(n, 2)} ${n === 1 ? "play" : "plays"}`;
  if (arm.standing === "impossible") return `cannot be kept, ${plays(arm.debt)} behind`;
  if (arm.standing === "behind") return `${plays(arm.debt)} behind`;
  if (arm.debt > 0) return `kept, ${plays(arm.debt)} to come`;
  return arm.ahead > 0 ? `kept, ${plays(arm.ahead)} ahead` : "kept";
}

/** What a floor costs at the margin. */
export function price(arm) {
  if (arm.floor === 0) return "no floor";
  const cost = arm.price / 100;
  if (cost < ROUNDING) return "raising this floor by one point costs nothing";
  return `raising this floor by one point costs ${number(cost, 2)} reward a round`;
}

/** The moment of a Unix time, short. */
export function clock(seconds) {
  const then = new Date(1000 * seconds);
  const near = Date.now() - then < 20 * 3600e3;
  const time = then.toLocaleTimeString("en-GB");
  return near ? time : `${then.toLocaleDateString("sv")} ${time.slice(0, 5)}`;
}
