// Keeps the page up to date without losing what the reader has opened or where
// the keyboard is. Without it the page shows the moment it was loaded.
"use strict";
const contents = document.getElementById("contents");
const pause = document.getElementById("pause");
let paused = false;
pause.hidden = false;
pause.addEventListener("click", () => {
  paused = !paused;
  pause.setAttribute("aria-pressed", String(paused));
});
async function update() {
  if (paused || document.hidden) return;
  const answer = await fetch("contents");
  if (!answer.ok) return;
  const text = await answer.text();
  const open = new Set([...contents.querySelectorAll("details[open]")].map((d) => d.id));
  const at = document.activeElement && document.activeElement.closest("details");
  const focused = at && contents.contains(at) ? at.id : "";
  const selected = String(getSelection());
  if (selected !== "") return;
  contents.innerHTML = text;
  for (const d of contents.querySelectorAll("details")) if (open.has(d.id)) d.open = true;
  const again = focused && document.getElementById(focused);
  if (again) again.querySelector("summary").focus({ preventScroll: true });
}
setInterval(() => { update().catch(() => {}); }, 10000);
