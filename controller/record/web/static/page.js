// Keeps the page up to date without losing what the reader has opened or where the
// keyboard is, and narrows lists while one types. Without it the page shows the moment
// it was loaded, and filters apply with their button.
"use strict";
const contents = document.getElementById("contents");
const pause = document.getElementById("pause");
const theme = document.getElementById("theme");

let paused = false;
pause.hidden = false;
pause.addEventListener("click", () => {
  paused = !paused;
  if (paused && asked === updating) answered = ++asked; // what the page asked for by itself is not shown any more
  pause.setAttribute("aria-pressed", String(paused));
});

const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const label = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `Switch to the ${dark() ? "light" : "dark"} theme`); };
theme.hidden = false;
label();
theme.addEventListener("click", () => {
  const next = dark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try { localStorage.setItem("theme", next); } catch { /* it holds for this page then */ }
  label();
});

let shown = contents.innerHTML;

// show replaces the contents. What was open stays open, and what had the focus has it.
function show(text) {
  if (text === shown) return;
  shown = text;
  const open = new Set([...contents.querySelectorAll("details[open]")].map((d) => d.id));
  const at = document.activeElement;
  const inside = at && at !== contents && contents.contains(at) ? at : null;
  const details = inside && inside.closest("details");
  const id = inside && (inside.id || (details && details.id));
  const href = inside && inside.getAttribute("href");
  const caret = inside && inside.matches("input") ? [inside.selectionStart, inside.selectionEnd] : null;
  contents.innerHTML = text;
  for (const d of contents.querySelectorAll("details")) if (open.has(d.id)) d.open = true;
  if (!inside) return;
  let again = id && document.getElementById(id);
  if (again && again.matches("details")) again = again.querySelector("summary");
  if (!again && href) again = [...contents.querySelectorAll("a")].find((a) => a.getAttribute("href") === href);
  if (!again) return;
  again.focus({ preventScroll: true });
  if (caret) again.setSelectionRange(...caret);
}

let asked = 0;
let answered = 0;
let updating = 0; // the last request that nobody but the clock made
let typing = 0; // a timer, until the filter applies what was typed
async function load() {
  const number = ++asked;
  try {
    const answer = await fetch("contents" + location.search);
    const text = await answer.text();
    if (answer.ok && number === asked) show(text); // else a later request is under way
  } finally {
    answered = Math.max(answered, number);
  }
}

setInterval(() => {
  if (paused || typing || document.hidden || answered < asked || String(getSelection()) !== "") return;
  const at = document.activeElement;
  if (at && at.matches("select")) return; // its list may be open
  updating = asked + 1;
  load().catch(() => {});
}, 10000);

// narrow shows what the filter asks for, and makes that the address of the page.
function narrow(form) {
  typing = 0;
  const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  history.replaceState(null, "", "?" + query);
  load().catch(() => {});
}
contents.addEventListener("input", (e) => {
  if (!e.target.form) return;
  asked++; // an answer to what was asked before would replace what is being typed
  clearTimeout(typing);
  typing = setTimeout(() => narrow(document.querySelector("form.filter")), 200);
});
contents.addEventListener("submit", (e) => {
  e.preventDefault();
  clearTimeout(typing);
  narrow(e.target);
});
