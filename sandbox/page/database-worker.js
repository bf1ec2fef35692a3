// Holds Postgres, away from the page's own thread, so that the page moves while a statement runs.
// Messages: {id, run: text}, {id, prompt: text} or {id, listen: channel}. They are done one after the
// other, and each is answered once, with the same id.

// Stands for the program that makes a data directory, which is not needed and need not be fetched.
const EMPTY_MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

let db;
const heard = []; // notifications; they are told after the answer to the statement that caused them

async function get(address) {
  const answer = await fetch(new URL(address, import.meta.url));
  if (!answer.ok) throw new Error(`${address}: the server answered ${answer.status}`);
  return answer.blob();
}

// Everything is fetched at once, the code of PGlite too.
async function open() {
  postMessage({ phase: 'Fetching Postgres' });
  const compiled = get('pglite/pglite.wasm')
    .then((blob) => blob.arrayBuffer()).then((bytes) => WebAssembly.compile(bytes));
  const [pgliteWasmModule, fsBundle, dump, { PGlite }] = await Promise.all([
    compiled, get('pglite/pglite.data'), get('qwf.data'), import('./pglite/index.js')]);
  postMessage({ phase: 'Starting Postgres with the schema of qwf' });
  const loadDataDir = new Blob([dump], { type: 'application/x-gzip' }); // servers call it otherwise
  const initdbWasmModule = new WebAssembly.Module(EMPTY_MODULE);
  db = await PGlite.create({ pgliteWasmModule, initdbWasmModule, fsBundle, loadDataDir });
  postMessage({ ready: true });
}

async function run(text) {
  const notices = [];
  const onNotice = ({ severity, message }) => notices.push(`${severity}: ${message}`);
  const results = await db.exec(text, { onNotice });
  return { notices, results: results.map(({ rows, fields, affectedRows }) =>
    ({ rows, affectedRows, columns: fields.map(({ name }) => name) })) };
}

async function listen(channel) {
  await db.listen(channel, (payload) => heard.push({ heard: channel, payload }));
}

// What a person typed. Whatever it did to the session, the workers find it as before: no statement
// of theirs may run in a transaction that is left open, or as another role.
async function prompt(text) {
  const found = await run(text).catch((error) => ({ error: told(error), results: [], notices: [] }));
  const { notices } = await run('rollback');
  await run('reset session authorization; reset role; reset all');
  return { ...found, rolledBack: !notices.some((one) => one.includes('no transaction')) };
}

function told({ message, code, detail, hint }) {
  return { message, code, detail, hint };
}

async function answer({ id, ...asked }) {
  try {
    const [[kind, value]] = Object.entries(asked);
    postMessage({ id, answer: await { run, prompt, listen }[kind](value) });
  } catch (error) {
    postMessage({ id, error: told(error) });
  }
  for (const one of heard.splice(0)) postMessage(one);
}

let last = open().catch((error) => postMessage({ failed: String(error.message ?? error) }));
onmessage = ({ data }) => { last = last.then(() => answer(data)); };
