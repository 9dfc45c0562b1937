// Formulas in the book, without a network.
(() => {
  "use strict";
  const page = document.querySelector("main");
  if (!page || !page.textContent.includes("$")) return;

  // This script lies in the root of the book: docs/book, or a published copy.
  const root = new URL(".", document.currentScript.src).href;
  typesetFormulas([page], [root + "../katex/", root + "katex/"]);
})();
