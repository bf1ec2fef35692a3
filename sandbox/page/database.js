// The page's side of database-worker.js.

export class DatabaseError extends Error {
  constructor({ message, code, detail, hint }) {
    super(message);
    Object.assign(this, { code, detail, hint });
  }
}

class Database {
  phase = 'Loading the page'; // what goes on until it is open
  onPhase = () => {};
  #worker = new Worker(new URL('database-worker.js', import.meta.url), { type: 'module' });
  #waiting = new Map();
  #heard = new Map();
  #next = 1;

  constructor() {
    this.opened = new Promise((resolve, reject) => { // rejects if it cannot be opened
      this.#worker.onerror = (event) => reject(new Error(event.message || 'a file is missing'));
      this.#worker.onmessage = ({ data }) => {
        if (data.phase) this.onPhase(this.phase = data.phase);
        else if (data.ready) resolve();
        else if (data.failed) reject(new Error(data.failed));
        else if (data.heard) this.#heard.get(data.heard)?.(data.payload);
        else this.#answered(data);
      };
    });
    this.opened.catch(() => {}); // main.js tells the reader, perhaps later than this happens
  }

  // Runs statements in one transaction: {results: [{rows, columns, affectedRows}], notices}.
  // Rejects with DatabaseError.
  run(text) {
    return this.#ask({ run: text });
  }

  // Runs what a person typed, and puts the session back as the workers need it: as run(), with
  // `error` instead of a rejection, and `rolledBack` if a transaction was left open.
  prompt(text) {
    return this.#ask({ prompt: text });
  }

  // The rows of the last statement.
  async rows(text) {
    return (await this.run(text)).results.at(-1)?.rows ?? [];
  }

  async listen(channel, act) {
    this.#heard.set(channel, act);
    await this.#ask({ listen: channel });
  }

  #ask(message) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...message });
    });
  }

  #answered({ id, answer, error }) {
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) reject(new DatabaseError(error));
    else resolve(answer);
  }
}

// Opening takes longest, so it begins before the rest of the page is loaded.
export const database = new Database();
