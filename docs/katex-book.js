// Formulas in the book, without a network.
(() => {
  "use strict";
  const page = document.querySelector("main");
  if (!page || !page.textContent.includes("$")) return;

  // This script lies in the root of the book.
  typesetFormulas([page], [new URL("katex/", document.currentScript.src).href]);
})();
