import { told } from "./console.js";
import { Editor } from "./editor.js";
import { Inquiry } from "./inquiry.js";

const data = JSON.parse(document.getElementById("data").textContent);
const problem = document.getElementById("problem");
const inquiry = new Inquiry(data, (found) => {
  problem.textContent = found ? told(found) : "";
  editor.underline(found?.line, found?.column);
});
const editor = new Editor(document.getElementById("editor"), data.tables, (text) => inquiry.write(text), () => inquiry.ask());
if (data.open) {
  document.getElementById("epsilon").value = data.open.epsilon;
  editor.value = data.open.sql;
  inquiry.moved();
}
editor.area.focus();
