// The module: memory in, memory out. `boot` and `ask` run on the page and, as text, in a worker.
const boot = (module) => {
  const exports = new WebAssembly.Instance(module, {}).exports;
  const bytes = (start, length) => new Uint8Array(exports.memory.buffer, start, length);
  return (command, text) => {
    const line = new TextEncoder().encode(text);
    const given = exports.give(line.length);
    if (line.length) bytes(given, line.length).set(line);
    const found = exports.answer(command, given, line.length);
    exports.take(given, line.length);
    const length = new DataView(exports.memory.buffer).getUint32(found, true);
    const answer = new TextDecoder().decode(bytes(found + 4, length));
    exports.take(found, length + 4);
    return answer;
  };
};

// Numbers of the commands.
const COMMANDS = { resolve: 0, judge: 1, lcp: 2 };

// Time that a line may take in the worker, in milliseconds.
const LIMIT = 2000;

// A question that was given up, which is no fault.
class Stopped extends Error {}

class Engine {
  static async start(packed) {
    const raw = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Engine(await WebAssembly.compile(await new Response(stream).arrayBuffer()));
  }

  constructor(module) {
    this.module = module;
    this.now = boot(module);
    this.worker = null;
    this.abort = () => {};
  }

  // Answers at once. A trap is a fault of carom: the instance is replaced, and the caller told.
  ask(command, text) {
    try {
      return this.now(COMMANDS[command], text);
    } catch (error) {
      this.now = boot(this.module);
      throw error;
    }
  }

  // Answers in a worker, within the limit; one question at a time. To start the worker does not count.
  async askLater(command, text) {
    this.worker ??= await this.makeWorker();
    const worker = this.worker;
    return new Promise((resolve, reject) => {
      const end = (done, value) => {
        clearTimeout(timer);
        this.abort = () => {};
        done(value);
      };
      const drop = (reason) => {
        worker.terminate();
        this.worker = null;
        end(reject, reason);
      };
      const timer = setTimeout(() => drop(new Stopped(`no answer within ${LIMIT / 1000} s; the line was given up`)), LIMIT);
      this.abort = () => drop(new Stopped("stopped"));
      worker.onmessage = ({ data }) => (data.error ? drop(new Error(data.error)) : end(resolve, data.answer));
      worker.onerror = (event) => drop(new Error(event.message || "the worker failed"));
      worker.postMessage({ command: COMMANDS[command], text });
    });
  }

  makeWorker() {
    const source = `"use strict"; const boot = ${boot}; let ask = null;
      onmessage = ({ data }) => {
        if (data.module) { ask = boot(data.module); postMessage({ ready: true }); return; }
        try { postMessage({ answer: ask(data.command, data.text) }); }
        catch (error) { postMessage({ error: "carom trapped: " + error.message }); }
      };`;
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(url);
    URL.revokeObjectURL(url);
    return new Promise((resolve, reject) => {
      worker.onmessage = () => resolve(worker);
      worker.onerror = (event) => reject(new Error(event.message || "the worker does not start"));
      worker.postMessage({ module: this.module });
    });
  }
}
