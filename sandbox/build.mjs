// Builds the sandbox, a folder that any static web server can serve:
//   qwf migrate sql | node sandbox/build.mjs FOLDER
// It deploys the SQL into PGlite (Postgres in WebAssembly) and stores the data directory in the
// folder, beside the page and the files of PGlite. So a browser opens a database that is ready.
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync }
  from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';

const HERE = dirname(fileURLToPath(import.meta.url));
const WEB = join(HERE, '..', 'python', 'qwf_agent', 'web', 'static');
const LOOKS = ['app.css', 'graph.css', 'icon.svg']; // of `qwf web`, so that both look the same
const BLOCK = 512; // bytes of a header in a tar file; contents are filled up to a multiple

// The data directory with this SQL deployed, as an uncompressed tar file.
async function dataDirectory(sql) {
  const db = await PGlite.create({ initDbStartParams: ['--wal-segsize=1'] }); // MB; 16 is usual
  await db.exec(sql);
  await db.exec('vacuum full');
  await db.exec('checkpoint');
  const dump = await db.dumpDataDir('none');
  await db.close();
  return Buffer.from(await dump.arrayBuffer());
}

// Leaves out what a page does not need: the database template0, and segments of the write-ahead
// log that wait to be used. The first segment has to stay, and so has template1.
function slim(tar) {
  const entries = [];
  for (let at = 0; tar[at] !== 0 && at < tar.length;) {
    const field = (from, size) => tar.toString('latin1', at + from, at + from + size).split('\0')[0];
    const end = at + BLOCK + Math.ceil(parseInt(field(124, 12), 8) / BLOCK) * BLOCK;
    entries.push({ name: join(field(345, 155), field(0, 100)), bytes: tar.subarray(at, end) });
    at = end;
  }
  const segment = /(^|\/)pg_wal\/[0-9A-F]{24}$/;
  const [, ...spare] = entries.map(({ name }) => name).filter((name) => segment.test(name)).sort();
  const unused = ({ name }) => spare.includes(name) || /(^|\/)base\/4\//.test(name);
  const kept = entries.filter((entry) => !unused(entry)).map(({ bytes }) => bytes);
  return Buffer.concat([...kept, Buffer.alloc(2 * BLOCK)]);
}

function copyPglite(to) {
  const from = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  const wanted = /^(index|chunk-\w+)\.js$|^pglite\.(wasm|data)$/;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from).filter((one) => wanted.test(one))) {
    if (!name.endsWith('.js')) copyFileSync(join(from, name), join(to, name));
    else { // without the link to its source map, which is not copied
      const code = readFileSync(join(from, name), 'utf8');
      writeFileSync(join(to, name), code.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
    }
  }
  copyFileSync(join(from, '..', 'LICENSE'), join(to, 'LICENSE'));
}

const [out] = process.argv.slice(2);
if (!out) {
  console.error('Say where to build: qwf migrate sql | node sandbox/build.mjs FOLDER');
  process.exit(2);
}
const tar = slim(await dataDirectory(await text(process.stdin)));
rmSync(out, { recursive: true, force: true });
cpSync(join(HERE, 'page'), out, { recursive: true });
for (const name of LOOKS) copyFileSync(join(WEB, name), join(out, name));
copyPglite(join(out, 'pglite'));
const dump = gzipSync(tar);
writeFileSync(join(out, 'qwf.data'), dump); // not .gz: some servers would unpack it on the way
console.log(`${out}: database ${(dump.length / 1e6).toFixed(2)} MB`);
