// What all pages share: requests that say which page sent them, and signing out.
const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";

export class Refused extends Error {
  constructor(problem) {
    super(problem.title ?? "refused");
    this.problem = problem;
  }
}

export async function request(path, body, method = body === undefined ? "GET" : "POST", signal = undefined) {
  const headers = { "X-CSRF-Token": csrf, Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ title: "the server does not answer", hint: "is it still running?", code: "gone" });
  }
  const found = await response.json().catch(() => ({ title: "the server does not answer as it should" }));
  if (response.status === 401 && !path.startsWith("/sign")) location.assign("/sign-in");
  if (!response.ok) throw new Refused(found);
  return found;
}

export function told(problem) {
  const lines = [problem.detail ?? problem.title];
  if (problem.fields) lines.push(`not as it should be: ${problem.fields.map((f) => f.replace("body.", "")).join(", ")}`);
  return lines.join("\n");
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const spent = (left) => {
  const shown = document.getElementById("left");
  if (!shown || left === null || left === undefined) return;
  shown.textContent = `ε ${left}`;
  const granted = parseFloat(shown.nextSibling.textContent.replace(/[^0-9.]/g, ""));
  if (granted > 0) document.getElementById("meter").value = parseFloat(left) / granted;
};

document.getElementById("sign-out")?.addEventListener("click", async () => {
  const { to } = await request("/sign-out", {});
  location.assign(to);
});
