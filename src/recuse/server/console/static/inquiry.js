// A question from its text to its answer: explained while it is written, its error shown before ε is spent.
import { element, request, told } from "./console.js";
import { curve, plain } from "./draw.js";
import { show } from "./answer.js";

const API = "/api/v1";
const LADDER = ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"];
const SUPPOSED = 1000;
const TYPING = 120, RESTING = 500;
const LABELS = { questions: "asked", tables: "table", completed: "joined", owners: "owner", own: "run as it is", how: "how", groups: "groups", firsts: "first", epsilon: "ε", then: "then", warnings: "warning" };
const at = (id) => document.getElementById(id);

export class Inquiry {
  constructor(data, refused) {
    this.data = data;
    this.refused = refused;
    this.rows = Object.fromEntries(data.tables.map((t) => [t.name, data.rows[t.name] ?? SUPPOSED]));
    this.sql = "";
    this.turn = 0;
    this.points = [];
    at("ask").addEventListener("click", () => this.ask());
    at("epsilon").addEventListener("input", () => { at("error").value = ""; this.moved(); });
    at("slider").addEventListener("input", () => { at("epsilon").value = rounded(10 ** at("slider").value); at("error").value = ""; this.moved(); });
    at("error").addEventListener("input", () => this.inverted());
  }

  // a new text: what is shown of the old one goes
  write(sql) {
    this.sql = sql;
    this.turn += 1;
    this.points = [];
    this.ready = false;
    at("ask").disabled = true;
    at("curve").replaceChildren();
    at("basis").textContent = "";
    at("expectation").textContent = "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.explain(), TYPING);
  }

  async explain() {
    const turn = this.turn;
    if (!this.sql.trim()) { this.refused(null); this.understood(null); return; }
    try {
      const found = await request(`${API}/explain`, { sql: this.sql });
      if (turn !== this.turn) return;
      this.refused(null);
      this.understood(found.explanation);
      this.ready = true;
      await this.priced();
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.estimate(), RESTING);
    } catch (error) {
      if (!error.problem) throw error;
      if (turn !== this.turn) return;
      this.understood(null);
      this.refused(error.problem);
    }
  }

  understood(found) {
    const place = at("understood");
    if (!found) { place.replaceChildren(element("p", { class: "quiet-text" }, "Nothing that can be asked yet.")); this.needs([]); return; }
    const list = element("dl");
    for (const [key, word] of Object.entries(LABELS))
      for (const one of found[key] ?? []) {
        const text = typeof one === "string" ? one : key === "tables" ? `${one.table}${one.alias === one.table ? "" : ` as ${one.alias}`}: ${one.ownership}` : one.text;
        list.append(element("dt", {}, word), element("dd", {}, text));
      }
    place.replaceChildren(list, element("details", {}, element("summary", {}, "Statements that would be run"), element("pre", { class: "code", tabindex: "0" }, [...found.understood, ...found.sql].join("\n\n"))));
    this.needs([...new Set(found.tables.map((t) => t.table))]);
  }

  // fields for the numbers that the error is made from
  needs(tables) {
    const place = at("rows");
    const shown = [...place.querySelectorAll("input")].map((i) => i.name).join();
    const wanted = Object.keys(this.rows).filter((t) => tables.includes(t) || tables.length === 0);
    if (shown === wanted.join()) return;
    place.replaceChildren(...wanted.flatMap((name, i) => {
      const field = element("input", { id: `rows-${i}`, name, inputmode: "numeric", value: this.rows[name], maxlength: "7" });
      field.addEventListener("change", () => { this.rows[name] = parseInt(field.value, 10) || SUPPOSED; this.estimate(); });
      return [element("div", {}, element("label", { for: `rows-${i}` }, name), field)];
    }));
  }

  get epsilon() { return at("epsilon").value.trim(); }

  moved() {
    const loss = value(this.epsilon);
    if (loss > 0) at("slider").value = Math.log10(loss);
    this.drawn();
    clearTimeout(this.pricing);
    this.pricing = setTimeout(() => this.priced(), TYPING);
  }

  async priced() {
    const button = at("ask"), turn = this.turn;
    if (!this.ready) return;
    try {
      const { price } = await request(`${API}/price`, { sql: this.sql, epsilon: this.epsilon });
      if (turn !== this.turn) return;
      button.textContent = { epsilon: `Ask, spending ε ${this.epsilon}`, stored: "Ask, free: asked before", public: "Ask, free: about nobody" }[price];
      button.disabled = Boolean(this.asking);
      at("waiting").textContent = "";
    } catch (error) {
      if (!error.problem) throw error;
      button.disabled = true;
      at("waiting").textContent = told(error.problem);
    }
  }

  async estimate() {
    const turn = this.turn;
    if (!this.ready || this.estimating) { this.again = this.ready; return; }
    this.estimating = true;
    this.again = false;
    at("basis").textContent = "The error is being worked out …";
    try {
      const found = await request(`${API}/estimate`, { sql: this.sql, epsilons: LADDER, rows: this.rows, largest: this.data.largest, runs: 40 });
      if (turn === this.turn) { this.points = points(found); this.told = found[0]; this.drawn(); }
    } catch (error) {
      if (!error.problem) throw error;
      if (turn === this.turn) at("basis").textContent = told(error.problem);
    } finally {
      this.estimating = false;
      if (turn !== this.turn || this.again) this.estimate();
    }
  }

  drawn() {
    const loss = value(this.epsilon);
    if (!this.points.length) return;
    const relative = this.points.every((p) => p.relative);
    const drawn = this.points.map((p) => (relative ? { ...p, mostly: 100 * p.mostly / p.size, typical: 100 * p.typical / p.size } : p));
    at("curve").replaceChildren(curve(drawn, loss, relative ? " %" : ""), element("p", { class: "quiet-text" }, "solid: 9 of 10 err by less; dashed: half of them"));
    at("basis").textContent = [this.told.basis, ...this.told.cautions].join("; ");
    const here = between(this.points, loss);
    if (!here) { at("expectation").textContent = ""; return; }
    const share = (x) => (here.relative ? ` (${plain((100 * x) / here.size, 2)} %)` : "");
    const name = this.points.columns > 1 ? `${here.name}: ` : "";
    at("expectation").textContent = `${name}typically off by ${plain(here.typical, 2)}${share(here.typical)}, 9 of 10 by less than ${plain(here.mostly, 2)}${share(here.mostly)}`;
  }

  // the other handle: which ε for this error
  inverted() {
    const [, amount, percent] = /^\s*([0-9.]+)\s*(%)?\s*$/.exec(at("error").value) ?? [];
    if (!amount || !this.points.length) return;
    const found = enough(this.points, parseFloat(amount), Boolean(percent));
    if (found === null) { at("expectation").textContent = "No ε up to 10 makes the error so small."; return; }
    at("epsilon").value = rounded(found);
    this.moved();
  }

  async ask() {
    if (at("ask").disabled || this.asking) return;
    const asked = { sql: this.sql, epsilon: this.epsilon };
    this.asking = true;
    at("ask").disabled = true;
    at("waiting").textContent = "";
    try {
      let job = await request(`${API}/questions`, asked);
      while (job.state === "waiting") {
        if (job.not_before) at("waiting").textContent = `The answer comes at ${new Date(job.not_before).toLocaleTimeString()}.`;
        else at("waiting").textContent = "Waiting for its turn.";
        await new Promise((done) => setTimeout(done, Math.max(1000 * job.wait + 60, 250)));
        job = await request(`${API}/questions/${job.id}`);
      }
      at("waiting").textContent = "";
      if (job.state === "done") show(at("answer"), job.answer, asked, () => this.sharpen());
      else at("waiting").textContent = job.problem ? told(job.problem) : "Charged, and not answered.";
    } catch (error) {
      if (!error.problem) throw error;
      at("waiting").textContent = told(error.problem);
    } finally {
      this.asking = false;
      const said = at("waiting").textContent;
      await this.priced();
      if (said) at("waiting").textContent = said;
    }
  }

  sharpen() {
    at("epsilon").value = rounded(2 * value(this.epsilon));
    this.moved();
    at("epsilon").focus();
  }
}

// the column that errs most, for each ε; an error that is no number is left out
function points(found) {
  const made = found.flatMap((one) => {
    const columns = one.columns.filter((c) => Number.isFinite(c.mostly)).map((c) => ({ epsilon: value(one.epsilon), name: c.name, typical: c.typical, mostly: c.mostly, size: Math.abs(c.value ?? 0), relative: Boolean(c.value) }));
    const worst = (c) => (c.relative ? c.mostly / c.size : Infinity);
    return columns.sort((a, b) => worst(b) - worst(a)).slice(0, 1);
  });
  made.columns = Math.max(0, ...found.map((one) => one.columns.length));
  return made;
}

// between two points straight on the logarithmic scales
function between(all, loss) {
  if (!(loss > 0) || !all.length) return null;
  const after = all.findIndex((p) => p.epsilon >= loss);
  if (after <= 0) return after === 0 && all[0].epsilon === loss ? all[0] : null;
  const [a, b] = [all[after - 1], all[after]], t = Math.log(loss / a.epsilon) / Math.log(b.epsilon / a.epsilon);
  const mix = (x, y) => (x > 0 && y > 0 ? Math.exp(Math.log(x) * (1 - t) + Math.log(y) * t) : x * (1 - t) + y * t);
  return { ...b, typical: mix(a.typical, b.typical), mostly: mix(a.mostly, b.mostly) };
}

function enough(all, wanted, percent) {
  const [low, high] = [all[0].epsilon, all.at(-1).epsilon];
  const fits = (loss) => { const p = between(all, loss); return p && (percent ? p.relative && (100 * p.mostly) / p.size <= wanted : p.mostly <= wanted); };
  for (let step = 0; step <= 240; step++) {
    const loss = low * (high / low) ** (step / 240);
    if (fits(Math.min(loss, high))) return Math.min(Math.ceil(loss * 10 ** (1 - Math.floor(Math.log10(loss)))) / 10 ** (1 - Math.floor(Math.log10(loss))), high);
  }
  return null;
}

const value = (text) => { const [a, b] = String(text).split("/").map(Number); return b === undefined ? a : a / b; };
const rounded = (x) => String(Number(x.toPrecision(2)));
