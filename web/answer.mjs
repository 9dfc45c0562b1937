// Answers lines from standard input by the module: `node answer.mjs carom_web.wasm`, each line a number of a command
// (0 resolve, 1 judge, 2 lcp), a space, and the problem.
import { readFileSync, writeFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const imports = WebAssembly.Module.imports(module);
if (imports.length > 0) throw new Error(`the module has ${imports.length} imports`);
const { give, take, answer, memory } = new WebAssembly.Instance(module, {}).exports;
const bytes = (start, length) => new Uint8Array(memory.buffer, start, length);

const ask = (command, text) => {
  const line = new TextEncoder().encode(text);
  const given = give(line.length);
  if (line.length > 0) bytes(given, line.length).set(line);
  const found = answer(command, given, line.length);
  take(given, line.length);
  const length = new DataView(memory.buffer).getUint32(found, true);
  const out = new TextDecoder().decode(bytes(found + 4, length));
  take(found, length + 4);
  return out;
};

const lines = readFileSync(0, "utf8").split("\n").slice(0, -1);
const answers = lines.map((line) => {
  const space = line.indexOf(" ");
  return ask(Number(line.slice(0, space)), line.slice(space + 1));
});
writeFileSync(1, answers.map((line) => `${line}\n`).join(""));
