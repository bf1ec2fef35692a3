// Verifies changes in a built database, and lives a run in it; prints what failed, as JSON.
// Reads [{name, verify}] from standard input:  node verify.mjs DUMP
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { live } from './life.mjs';

const require = createRequire(new URL('../../sandbox/', import.meta.url));
const { PGlite } = require('@electric-sql/pglite');

const dump = new Blob([readFileSync(process.argv[2])], { type: 'application/x-gzip' });
const db = await PGlite.create({ loadDataDir: dump });
const failed = [];
for (const { name, verify } of JSON.parse(await text(process.stdin))) {
  try {
    await db.exec(verify);
  } catch ({ code, message }) {
    failed.push(`verify ${name}: ${code} ${message}`);
    await db.exec('rollback');
  }
}
const { rows: [{ count }] } = await db.query(
  "select count(*)::int from pg_proc where pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)");
let died = null;
try {
  await live(db);
} catch (error) {
  died = error.stack;
}
console.log(JSON.stringify({ failed, functions: count, died }));
await db.close();
