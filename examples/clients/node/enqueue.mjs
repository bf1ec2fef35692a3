// Inserts an order and its work, or neither:  node enqueue.mjs ada@example.org
import pg from 'pg';

const [email] = process.argv.slice(2);
const db = new pg.Client(); // reads the PG* variables
await db.connect();
try {
  await db.query('begin');
  const { rows: [order] } = await db.query('insert into orders (email) values ($1) returning id', [email]);
  await db.query("select qwf.enqueue('receipt', $1::text::jsonb, queue => 'cpu', key => $2)",
    [JSON.stringify({ order: Number(order.id) }), `order ${order.id}`]); // pg returns a bigint as text
  const { rows: [run] } = await db.query("select qwf.enqueue_run('greet', $1::text::jsonb) as id",
    [JSON.stringify({ who: email })]);
  await db.query('commit');
  console.log(run.id);
} finally {
  await db.end(); // after an error too: anything uncommitted is rolled back
}
