// The shapes that answers and errors are drawn with: plain SVG that follows the colours of the page.
const SPACE = "http://www.w3.org/2000/svg";

export function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const plain = (x, digits = 3) => {
  if (x === null || x === undefined) return "–";
  if (typeof x !== "number") return String(x);
  if (Number.isInteger(x)) return x.toLocaleString("en");
  return Number(x.toPrecision(Math.max(digits, String(Math.trunc(Math.abs(x))).length))).toLocaleString("en", { maximumFractionDigits: 6 });
};

// the ends of a scale on which all intervals have room
export function scale(cells, fromZero) {
  const ends = cells.flatMap((c) => [c.low, c.value, c.high]).filter(Number.isFinite);
  if (fromZero) ends.push(0);
  let low = Math.min(...ends), high = Math.max(...ends);
  if (!(low < high)) { low -= 1; high += 1; }
  const room = fromZero ? 0 : (high - low) * 0.08;
  return [low - room, high + room];
}

// an interval as a band, with the answer as a stroke in it
export function bar({ value, low, high }, [from, to]) {
  const across = (x) => Math.max(0, Math.min(200, (200 * (x - from)) / (to - from)));
  const words = `${plain(value)}, noise ${plain(low)} to ${plain(high)}`;
  const drawn = shape("svg", { viewBox: "-3 0 206 24", class: "bar", role: "img", "aria-label": words, preserveAspectRatio: "none" });
  drawn.append(shape("line", { x1: 0, x2: 200, y1: 12, y2: 12, class: "grid" }));
  if (Number.isFinite(low) && Number.isFinite(high))
    drawn.append(shape("rect", { x: across(low), width: Math.max(across(high) - across(low), 1), y: 4, height: 16, rx: 3, class: "band" }));
  if (Number.isFinite(value)) drawn.append(shape("line", { x1: across(value), x2: across(value), y1: 2, y2: 22, class: "tick" }));
  return drawn;
}

// error against ε, both on logarithmic scales, and where we are
export function curve(points, epsilon, unit) {
  const W = 320, H = 180, L = 66, B = 24;
  const drawn = shape("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `error against ε, ${points.length} points` });
  const shown = points.filter((p) => p.mostly > 0);
  if (shown.length < 2) return drawn;
  const log = Math.log10, es = points.map((p) => log(p.epsilon));
  const errors = shown.flatMap((p) => [p.mostly, p.typical]).filter((e) => e > 0).map(log);
  const [x0, x1] = [Math.min(...es), Math.max(...es)];
  const [y0, y1] = [Math.floor(Math.min(...errors)), Math.ceil(Math.max(...errors) + 1e-9)];
  const x = (e) => L + ((log(e) - x0) / (x1 - x0)) * (W - L - 8);
  const y = (e) => 8 + ((y1 - log(e)) / Math.max(y1 - y0, 1)) * (H - B - 8);
  for (let power = y0; power <= y1; power++) {
    drawn.append(shape("line", { x1: L, x2: W - 8, y1: y(10 ** power), y2: y(10 ** power), class: "grid" }));
    drawn.append(shape("text", { x: L - 4, y: y(10 ** power) + 4, "text-anchor": "end" }, plain(10 ** power) + unit));
  }
  for (const e of [0.01, 0.1, 1, 10]) {
    if (log(e) < x0 - 0.01 || log(e) > x1 + 0.01) continue;
    drawn.append(shape("text", { x: x(e), y: H - 6, "text-anchor": "middle" }, String(e)));
  }
  const line = (key) => shown.filter((p) => p[key] > 0).map((p, i) => `${i ? "L" : "M"}${x(p.epsilon).toFixed(1)} ${y(p[key]).toFixed(1)}`).join("");
  drawn.append(shape("path", { d: line("typical"), class: "typical" }), shape("path", { d: line("mostly"), class: "line" }));
  if (epsilon >= 10 ** x0 && epsilon <= 10 ** x1) drawn.append(shape("line", { x1: x(epsilon), x2: x(epsilon), y1: 8, y2: H - B, class: "here" }));
  return drawn;
}
