// Shows the operations that have every word of the filter, and opens the one that the address names.
const filter = document.getElementById("filter");
const entries = [...document.querySelectorAll("details.operation")];
const texts = new Map(entries.map((entry) => [entry, entry.textContent.toLowerCase()]));

function show() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of entries) {
    entry.hidden = !words.every((word) => texts.get(entry).includes(word));
  }
  for (const group of document.querySelectorAll("section.group")) {
    group.hidden = !group.querySelector("details.operation:not([hidden])");
  }
}

function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.hidden = false;
    target.open = true;
    target.scrollIntoView();
  }
}

filter.addEventListener("input", show);
window.addEventListener("hashchange", open);
show();
open();
