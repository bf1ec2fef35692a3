// Deploys changes into PGlite and verifies them; prints what failed, as JSON.
// Reads [{name, deploy, verify}] from standard input.
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';

const require = createRequire(new URL('../../sandbox/', import.meta.url));
const { PGlite } = require('@electric-sql/pglite');

const db = await PGlite.create();
const failed = [];
async function run(what, name, sql) {
  try {
    await db.exec(sql);
  } catch ({ code, message }) {
    failed.push(`${what} ${name}: ${code} ${message}`);
    await db.exec('rollback');
  }
}
const changes = JSON.parse(await text(process.stdin));
for (const { name, deploy } of changes) await run('deploy', name, deploy);
for (const { name, verify } of changes) await run('verify', name, verify);
const { rows: [{ count }] } = await db.query(
  "select count(*)::int from pg_proc where pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)");
console.log(JSON.stringify({ failed, functions: count }));
await db.close();
