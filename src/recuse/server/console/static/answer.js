// An answer, drawn: one big number, or a table in which every number stands on its column's scale.
import { element, spent } from "./console.js";
import { bar, plain, scale } from "./draw.js";

export function show(place, answer, asked, sharpen) {
  let fromZero = false;
  const draw = () => {
    const measured = answer.columns.flatMap((c, i) => (c.label ? [] : [i]));
    const cell = (r, c) => ({ value: number(answer.rows[r][c]), low: number(answer.low[r][c]), high: number(answer.high[r][c]) });
    const parts = [element("h2", {}, "Answer")];
    if (answer.rows.length === 1 && measured.length === answer.columns.length && measured.length <= 3) {
      for (const c of measured) {
        const found = cell(0, c);
        parts.push(element("p", { class: "quiet-text" }, answer.columns[c].name), element("p", { class: "big" }, plain(answer.rows[0][c])));
        if (Number.isFinite(found.low)) parts.push(bar(found, scale([found], fromZero)), element("p", { class: "quiet-text" }, `noise ${plain(found.low)} to ${plain(found.high)} with 95 %`));
      }
    } else parts.push(table(answer, measured, cell, fromZero));
    const charge = answer.remaining === null ? "About nobody: exact and free." : answer.stored ? `Asked before: free. ε ${answer.remaining} left.` : `ε ${answer.epsilon} charged, ${answer.remaining} left.`;
    parts.push(element("p", { id: "charge" }, charge));
    parts.push(tools(answer, asked, sharpen, () => { fromZero = !fromZero; draw(); }, fromZero));
    parts.push(element("details", {}, element("summary", {}, "In words, with what the interval leaves out"), element("pre", { class: "code", tabindex: "0" }, answer.text)));
    place.replaceChildren(...parts);
  };
  draw();
  place.hidden = false;
  spent(answer.remaining);
}

function table(answer, measured, cell, fromZero) {
  const scales = Object.fromEntries(measured.map((c) => [c, scale(answer.rows.map((_, r) => cell(r, c)), fromZero)]));
  const heads = answer.columns.flatMap((c, i) => [element("th", measured.includes(i) ? { class: "number" } : {}, c.name), ...(measured.includes(i) ? [element("th", {}, "interval")] : [])]);
  const rows = answer.rows.map((row, r) => element("tr", {}, ...row.flatMap((value, c) => {
    if (!measured.includes(c)) return [element("td", {}, value === null ? "NULL" : String(value))];
    const found = cell(r, c);
    return [element("td", { class: "number" }, plain(value)), element("td", {}, Number.isFinite(found.value) && Number.isFinite(found.low) ? bar(found, scales[c]) : "")];
  })));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows of the answer" },
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

function tools(answer, asked, sharpen, rescale, fromZero) {
  const button = (word, act) => {
    const made = element("button", { type: "button", class: "quiet" }, word);
    made.addEventListener("click", () => act(made));
    return made;
  };
  const copied = (text) => async (made) => {
    await navigator.clipboard.writeText(text);
    made.textContent = "Copied";
  };
  const literal = JSON.stringify(asked.sql);
  const csv = [answer.columns.flatMap((c) => (c.label ? [c.name] : [c.name, `${c.name}_low`, `${c.name}_high`])),
    ...answer.rows.map((row, r) => row.flatMap((v, c) => (answer.columns[c].label ? [v] : [v, answer.low[r][c], answer.high[r][c]])))]
    .map((row) => row.map((v) => (v === null ? "" : /[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : v)).join(",")).join("\n");
  const parts = [button(fromZero ? "Scale: zoomed" : "Scale: from zero", rescale)];
  if (answer.remaining !== null) parts.unshift(button("Sharpen", sharpen));
  parts.push(
    button("Copy as SQL", copied(`/* epsilon = ${asked.epsilon} */ ${asked.sql}`)),
    button("Copy as Python", copied(`db.ask(${literal}, epsilon="${asked.epsilon}")`)),
    button("Copy as CSV", copied(csv)),
  );
  return element("div", { class: "handles", role: "group", "aria-label": "What to do with the answer" }, ...parts);
}

const number = (x) => (typeof x === "number" ? x : NaN);
