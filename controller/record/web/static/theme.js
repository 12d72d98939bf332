// Applies the theme that the reader chose, before anything is drawn. Without a choice
// the system's setting holds. The choice stays in this browser: no cookie is set.
"use strict";
{
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage is not allowed */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
