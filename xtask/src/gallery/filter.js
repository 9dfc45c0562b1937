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
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    parts.forEach((part, k) => {
      part.hidden = !texts[k].includes(wanted);
      if (!part.hidden) shown += 1;
    });
    // A heading over nothing goes with what stood below it.
    sections.forEach((section) => {
      section.hidden = !section.querySelector("article:not([hidden]), .item:not([hidden])");
    });
    count.textContent = wanted ? `${shown} of ${parts.length}` : "";
  });
})();
