// An editor for SQL: a textarea over a coloured copy of its text, with completion and mistakes underlined.
// It takes no key from the browser but while the list of choices is open, so that Tab leaves it.
import { element } from "./console.js";

const WORDS = `SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT CROSS NATURAL ON USING AS AND OR NOT IN EXISTS
BETWEEN LIKE IS NULL CASE WHEN THEN ELSE END UNION INTERSECT EXCEPT ALL ANY WITH CAST EXTRACT DATE INTERVAL ASC DESC TRUE FALSE`.split(/\s+/);
const AGGREGATES = ["COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "STDDEV", "VARIANCE"];
const TOKEN = /(--[^\n]*|\/\*[^]*?(?:\*\/|$))|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\b\d[\d.]*(?:e[+-]?\d+)?\b)|([\p{L}_][\p{L}\p{N}_$]*)|([^])/giu;
const known = new Set([...WORDS, ...AGGREGATES]);

export class Editor {
  constructor(root, tables, changed, asked) {
    this.root = root;
    this.tables = tables;
    this.changed = changed;
    this.asked = asked;
    this.copy = root.querySelector("pre");
    this.area = root.querySelector("textarea");
    this.mistake = null;
    this.list = element("ul", { class: "choices", role: "listbox", id: "choices", "aria-label": "Completions", hidden: "" });
    root.append(this.list);
    for (const [key, value] of Object.entries({ "aria-autocomplete": "list", "aria-controls": "choices", "aria-haspopup": "listbox" }))
      this.area.setAttribute(key, value);
    this.area.addEventListener("input", () => this.typed());
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.area.addEventListener("blur", () => this.close());
    this.area.addEventListener("click", () => this.close());
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const item = event.target.closest("li");
      if (item) this.take([...this.list.children].indexOf(item));
    });
    this.paint();
  }

  get value() { return this.area.value; }
  set value(text) { this.area.value = text; this.mistake = null; this.paint(); this.changed(text); }

  // line and column are counted from one, in characters
  underline(line, column) {
    this.mistake = null;
    if (line) {
      const lines = this.area.value.split("\n");
      const before = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
      const chars = [...(lines[line - 1] ?? "")];
      const start = before + chars.slice(0, Math.max((column ?? 1) - 1, 0)).join("").length;
      const rest = this.area.value.slice(start);
      this.mistake = [start, start + Math.max((/^[\p{L}\p{N}_.$]+|^\S/u.exec(rest)?.[0] ?? " ").length, 1)];
    }
    this.area.setAttribute("aria-invalid", line ? "true" : "false");
    this.paint();
  }

  paint(caret = null) {
    const text = this.area.value, parts = [];
    const cuts = [...(this.mistake ?? []), ...(caret === null ? [] : [caret])];
    for (const match of text.matchAll(TOKEN)) {
      const [all, remark, string, , figure, word] = match;
      const kind = remark ? "remark" : string ? "text" : figure ? "figure" : word && known.has(word.toUpperCase()) ? "word" : "";
      let from = match.index;
      const end = from + all.length;
      for (const to of [...cuts.filter((c) => c > from && c < end).sort((a, b) => a - b), end]) {
        const wrong = this.mistake && from >= this.mistake[0] && from < this.mistake[1];
        if (caret === from) parts.push((this.marker = element("span")));
        parts.push(element("span", { class: `${kind}${wrong ? " mistake" : ""}` }, text.slice(from, to)));
        from = to;
      }
    }
    if (caret === text.length) parts.push((this.marker = element("span")));
    if (this.mistake && this.mistake[0] >= text.length) parts.push(element("span", { class: "mistake" }, "\u00a0"));
    this.copy.replaceChildren(...parts, "\n");
  }

  typed() {
    this.mistake = null;
    this.paint();
    const before = this.area.value.slice(0, this.area.selectionStart);
    if (/[\p{L}_][\p{L}\p{N}_]*\.?$|\.$/u.test(before) && !/['"][^'"]*$/.test(before.split("\n").pop())) this.open(false);
    else this.close();
    this.changed(this.area.value);
  }

  // tables after FROM and JOIN, a table's columns after its name or alias and a dot, all of them elsewhere
  found() {
    const at = this.area.selectionStart, before = this.area.value.slice(0, at);
    const [, owner, begun] = /(?:([\p{L}_][\p{L}\p{N}_]*)\.)?([\p{L}_][\p{L}\p{N}_]*)?$/u.exec(before);
    const typed = (begun ?? "").toLowerCase(), said = before.slice(0, at - typed.length).trimEnd();
    let all;
    if (owner) {
      const table = this.table(owner);
      all = table ? table.columns.map((c) => [c.name, table.name]) : [];
    } else if (/\b(from|join)$|\bfrom\b[^()]*,$/i.test(said)) {
      all = this.tables.map((t) => [t.name, t.role === "public" ? "public" : "table"]);
    } else {
      const used = this.tables.filter((t) => new RegExp(`\\b${escaped(t.name)}\\b`, "i").test(this.area.value));
      const columns = (used.length ? used : this.tables).flatMap((t) => t.columns.map((c) => [c.name, t.name]));
      all = [...columns, ...this.tables.map((t) => [t.name, "table"]), ...AGGREGATES.map((w) => [w, ""]), ...WORDS.map((w) => [w, ""])];
    }
    const seen = new Set();
    const fits = all.filter(([word]) => word.toLowerCase().startsWith(typed) && word.toLowerCase() !== typed && !seen.has(word) && seen.add(word));
    return { start: at - typed.length, fits: fits.slice(0, 12) };
  }

  table(name) {
    const direct = this.tables.find((t) => t.name.toLowerCase() === name.toLowerCase());
    if (direct) return direct;
    const text = this.area.value;
    return this.tables.find((t) => new RegExp(`\\b${escaped(t.name)}"?\\s+(?:as\\s+)?${escaped(name)}\\b`, "i").test(text));
  }

  open(asked) {
    const { start, fits } = this.found();
    const empty = start === this.area.selectionStart && this.area.value[start - 1] !== ".";
    if (!fits.length || (empty && !asked)) { this.close(); return; }
    this.start = start;
    this.fits = fits;
    this.at = asked ? 0 : -1;
    this.paint(start);
    this.list.replaceChildren(...fits.map(([word, hint], i) => element("li", { role: "option", id: `choice-${i}`, "aria-selected": String(i === this.at) }, word, element("small", {}, hint))));
    this.list.hidden = false;
    this.list.style.left = `${Math.min(this.marker.offsetLeft, Math.max(this.root.clientWidth - 200, 0))}px`;
    this.list.style.top = `${this.marker.offsetTop + 26}px`;
    this.mark();
  }

  close() {
    this.list.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  mark() {
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === this.at)));
    if (this.at < 0) { this.area.removeAttribute("aria-activedescendant"); return; }
    this.area.setAttribute("aria-activedescendant", `choice-${this.at}`);
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
  }

  take(i) {
    const [word] = this.fits[i], quoted = /^[a-z_][a-z0-9_]*$|^[A-Z]+$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`;
    this.area.setRangeText(quoted, this.start, this.area.selectionStart, "end");
    this.close();
    this.paint();
    this.changed(this.area.value);
    this.area.focus();
  }

  pressed(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.close(); this.asked(); return; }
    if (event.key === " " && event.ctrlKey) { event.preventDefault(); this.open(true); return; }
    if (this.list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      this.at = (this.at + step + this.fits.length) % this.fits.length;
      this.mark();
    } else if ((event.key === "Enter" || event.key === "Tab") && this.at >= 0) {
      event.preventDefault();
      this.take(this.at);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    } else if (event.key === "Tab") this.close();
  }
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
