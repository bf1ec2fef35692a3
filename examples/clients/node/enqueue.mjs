// Inserts an order and its work, or neither:  node enqueue.mjs ada@example.org
import pg from 'pg';

const [email] = process.argv.slice(2);
const db = new pg.Client(); // reads the PG* variables
await db.connect();
try {
  await db.query('begin');
  const { rows: [order] } = await db.query('insert into orders (email) values ($1) returning id', [email]);
  await db.query("select qwf.enqueue('receipt', $1, queue => 'cpu', key => $2)",
    [{ order: order.id }, `order ${order.id}`]); // pass a JSON list through JSON.stringify: pg turns lists into arrays
  const { rows: [run] } = await db.query("select qwf.enqueue_run('greet', $1) as id", [{ who: email }]);
  await db.query('commit');
  console.log(run.id);
} finally {
  await db.end(); // after an error too: anything uncommitted is rolled back
}
