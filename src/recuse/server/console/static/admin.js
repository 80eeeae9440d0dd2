// What a custodian does: each form is one request; what changed is shown by reading the page again.
import { request, told } from "./console.js";

const done = document.getElementById("done");
const KEPT = "recuse-done";

function reloaded(text) {
  sessionStorage.setItem(KEPT, text);
  location.reload();
}

const kept = sessionStorage.getItem(KEPT);
if (kept) {
  sessionStorage.removeItem(KEPT);
  done.textContent = kept;
  done.hidden = false;
  done.focus();
}

for (const form of document.querySelectorAll("form[data-path]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = form.querySelector(".problem");
    problem.hidden = true;
    if (form.dataset.confirm && form.querySelector("input").value !== form.dataset.confirm) {
      problem.textContent = `Write ${form.dataset.confirm}, if you mean it.`;
      problem.hidden = false;
      return;
    }
    const body = {};
    for (const field of form.elements) {
      if (!field.name || field.value.trim() === "") continue;
      body[field.name] = field.dataset.kind === "number" ? Number(field.value) : field.value.trim();
    }
    try {
      const found = await request(form.dataset.path, body);
      // a token is shown here and not kept anywhere: the page is not read again
      if (form.dataset.show) {
        done.replaceChildren(`${form.dataset.done} `, Object.assign(document.createElement("code"), { textContent: found[form.dataset.show] }));
        done.hidden = false;
        done.focus();
        form.reset();
      } else reloaded(form.dataset.done);
    } catch (error) {
      if (!error.problem) throw error;
      problem.textContent = told(error.problem);
      problem.hidden = false;
    }
  });
}

const dialog = document.getElementById("confirm");
let revoking = null;
for (const button of document.querySelectorAll("[data-revoke]")) {
  button.addEventListener("click", () => {
    revoking = button.dataset;
    document.getElementById("confirm-text").textContent = `Token ${revoking.revoke} of ${revoking.name} opens nothing from then on.`;
    document.getElementById("confirm-name").value = "";
    dialog.showModal();
  });
}
dialog.addEventListener("close", async () => {
  if (dialog.returnValue !== "yes" || document.getElementById("confirm-name").value !== revoking.name) return;
  await request(`/api/v1/tokens/${revoking.revoke}`, undefined, "DELETE");
  reloaded(`Token ${revoking.revoke} is revoked.`);
});
