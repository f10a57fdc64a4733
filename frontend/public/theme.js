// The theme that was chosen in this browser; without one the system's applies (see src/shell/theme.ts).
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // No storage in this browser: the system's theme it is.
}
