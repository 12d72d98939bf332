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
  if (paused || contents.contains(document.activeElement) && document.activeElement !== contents) return;
  const answer = await fetch("contents");
  if (!answer.ok) return;
  const open = new Set([...contents.querySelectorAll("details[open]")].map((d) => d.id));
  contents.innerHTML = await answer.text();
  for (const d of contents.querySelectorAll("details")) if (open.has(d.id)) d.open = true;
}
setInterval(() => { update().catch(() => {}); }, 10000);
