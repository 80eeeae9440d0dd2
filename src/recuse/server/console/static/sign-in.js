import { request, told } from "./console.js";

const form = document.getElementById("sign-in");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const problem = form.querySelector(".problem");
  try {
    const { to } = await request("/sign-in", { token: form.elements.token.value.trim() });
    location.assign(to);
  } catch (error) {
    problem.textContent = error.problem.code === "sign-in" ? "This token is not known, or no longer live." : told(error.problem);
    problem.hidden = false;
    form.elements.token.select();
  }
});
