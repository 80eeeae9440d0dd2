// A pattern is drawn or written; either follows the other. The server writes it as SQL, which is then asked.
import { request, told } from "./console.js";
import { shape } from "./draw.js";
import { Inquiry } from "./inquiry.js";

const at = (id) => document.getElementById(id);
const MOST = 6, W = 480, H = 260, R = 18;
const data = JSON.parse(at("data").textContent);
const inquiry = new Inquiry(data, refused);
let nodes = [], joins = [], chosen = null;

function refused(problem) {
  at("problem").textContent = problem ? told(problem) : "";
}

const isDirected = () => at("directed").checked;
const letter = () => "abcdefghijklmnopqrstuvwxyz".split("").find((name) => !nodes.some((n) => n.name === name));
const written = () => joins.map(([a, b]) => `${a}${isDirected() ? "->" : "-"}${b}`).join(", ");

// what is written, as nodes and joins; nodes that stand keep their place
function read(text) {
  const found = [...text.matchAll(/([a-z][a-z0-9_]*)\s*(->|<-|-)\s*([a-z][a-z0-9_]*)/g)];
  at("directed").checked = found.some(([, , way]) => way !== "-");
  joins = found.map(([, a, way, b]) => (way === "<-" ? [b, a] : [a, b]));
  const names = [...new Set(joins.flat())];
  nodes = names.map((name, i) => nodes.find((n) => n.name === name) ?? { name, ...around(i, names.length) });
  if (nodes.some((n, i) => nodes.some((m, j) => j < i && Math.hypot(n.x - m.x, n.y - m.y) < 2 * R))) nodes = names.map((name, i) => ({ name, ...around(i, names.length) }));
}

const around = (i, n) => ({ x: W / 2 + 90 * Math.cos((2 * Math.PI * i) / n - Math.PI / 2), y: H / 2 + 90 * Math.sin((2 * Math.PI * i) / n - Math.PI / 2) });

function draw() {
  const canvas = at("canvas"), place = Object.fromEntries(nodes.map((n) => [n.name, n]));
  const head = shape("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 5, markerHeight: 5, orient: "auto" }, shape("path", { d: "M0 0L8 4L0 8z" }));
  canvas.replaceChildren(shape("defs", {}, head));
  for (const [a, b] of joins) {
    const [p, q] = [place[a], place[b]], d = Math.hypot(q.x - p.x, q.y - p.y) || 1;
    const cut = (s) => ({ x: q.x + ((p.x - q.x) / d) * s, y: q.y + ((p.y - q.y) / d) * s }), end = cut(R + 2);
    canvas.append(shape("line", { x1: p.x, y1: p.y, x2: end.x, y2: end.y, class: "join", ...(isDirected() ? { "marker-end": "url(#head)" } : {}) }));
  }
  for (const n of nodes) canvas.append(shape("circle", { cx: n.x, cy: n.y, r: R, class: `node${n.name === chosen ? " chosen" : ""}`, "data-node": n.name }), shape("text", { x: n.x, y: n.y }, n.name));
}

async function ask() {
  draw();
  const edge = at("edges").selectedOptions[0].dataset;
  try {
    const { sql } = await request("/api/v1/pattern", { pattern: at("pattern").value || "?", table: edge.table, source: edge.source, target: edge.target });
    at("sql-text").textContent = sql;
    inquiry.write(sql);
  } catch (error) {
    if (!error.problem) throw error;
    at("sql-text").textContent = "";
    inquiry.write("");
    clearTimeout(inquiry.timer);
    refused(error.problem);
  }
}

function drawnAnew() {
  at("pattern").value = written();
  ask();
}

at("canvas").addEventListener("click", (event) => {
  const name = event.target.dataset?.node;
  if (!name) {
    const box = at("canvas").getBoundingClientRect(), k = Math.min(box.width / W, box.height / H);
    const x = (event.clientX - box.left - (box.width - k * W) / 2) / k, y = (event.clientY - box.top - (box.height - k * H) / 2) / k;
    if (nodes.length < MOST) nodes.push({ name: letter(), x, y });
    chosen = null;
    draw();
  } else if (chosen === null || chosen === name) {
    chosen = chosen === name ? null : name;
    draw();
  } else {
    const same = ([a, b]) => (a === chosen && b === name) || (!isDirected() && a === name && b === chosen);
    joins = joins.some(same) ? joins.filter((one) => !same(one)) : [...joins, [chosen, name]];
    chosen = null;
    drawnAnew();
  }
});
at("pattern").addEventListener("input", () => { read(at("pattern").value.toLowerCase()); ask(); });
at("directed").addEventListener("change", drawnAnew);
at("edges").addEventListener("change", ask);
at("preset").addEventListener("change", () => { if (at("preset").value) { nodes = []; at("directed").checked = false; at("pattern").value = at("preset").value; read(at("preset").value); ask(); } });
at("clear").addEventListener("click", () => { nodes = []; joins = []; chosen = null; at("preset").value = ""; drawnAnew(); });
read(at("pattern").value);
ask();
