"use strict";
// Keys of the pages of a review, and the time that an item is on the screen. Pages work without this script.
(() => {
  const since = performance.now();
  const form = document.getElementById("vote"), comment = document.getElementById("comment");
  let sent = false;
  document.addEventListener("submit", (event) => {
    if (sent) { event.preventDefault(); return; }
    sent = true;
    if (event.target === form) form.elements.seconds.value = ((performance.now() - since) / 1000).toFixed(1);
  });
  addEventListener("pageshow", () => { sent = false; });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "c" && comment) { event.preventDefault(); comment.focus(); return; }
    const target = /^[1-9a-z]$/.test(event.key) && document.querySelector(`[data-key="${event.key}"]`);
    if (target && !event.repeat) target.click();
  });
})();
