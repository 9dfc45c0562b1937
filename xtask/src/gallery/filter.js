(() => {
  "use strict";
  const filter = document.querySelector("#filter");
  const [input, count] = [filter.querySelector("input"), filter.querySelector("span")];
  const parts = [...document.querySelectorAll("article, .item")];
  const sections = [...document.querySelectorAll("section")];
  // The data of the players is not what a reader looks for.
  const words = (part) => {
    const copy = part.cloneNode(true);
    copy.querySelectorAll("script").forEach((script) => script.remove());
    return copy.textContent.toLowerCase();
  };
  let texts = null;
  filter.hidden = false;
  input.addEventListener("input", () => {
    texts ??= parts.map(words);
    const wanted = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    parts.forEach((part, k) => {
      part.hidden = !wanted.every((word) => texts[k].includes(word));
      if (!part.hidden) shown += 1;
    });
    // A heading over nothing goes with what stood below it.
    sections.forEach((section) => {
      section.hidden = !section.querySelector("article:not([hidden]), .item:not([hidden])");
    });
    count.textContent = wanted.length ? `${shown} of ${parts.length}` : "";
  });
  // A place in a folded table is opened.
  const open = () => {
    const place = document.getElementById(location.hash.slice(1));
    for (let part = place; part; part = part.parentElement) if (part.matches("details")) part.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
