// Numbers as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (value) => whole.format(value);

/** A number with as many digits as matter: 12.3, 0.45, 0.0067. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const decimals = Math.min(Math.max(digits - 1 - size, 0), 6);
  return value.toLocaleString("en", {
    minimumFractionDigits: Math.min(decimals, 1),
    maximumFractionDigits: decimals,
  });
}

export const percent = (share) => `${(100 * share).toFixed(1)}%`;

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

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
  if (arm.price === null) return "no price known";
  const cost = arm.price / 100;
  if (cost < 5e-7) return "raising this floor by one point costs nothing";
  return `raising this floor by one point costs ${number(cost, 2)} reward a round`;
}

/** The moment of a Unix time, short. */
export function clock(seconds) {
  const then = new Date(1000 * seconds);
  const near = Date.now() - then < 20 * 3600e3;
  const time = then.toLocaleTimeString("en-GB");
  return near ? time : `${then.toISOString().slice(0, 10)} ${time.slice(0, 5)}`;
}
