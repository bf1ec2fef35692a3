// Copies all events into a table of yours, each once:  node events.mjs
//   create table my_events (seq bigint primary key, kind text, subject text, detail jsonb);
//   create table my_place (seq bigint not null); insert into my_place values (0);
import pg from 'pg';

const db = new pg.Client(); // reads the PG* variables
let heard = false;
let wake = () => {};
db.on('notification', () => { heard = true; wake(); });
await db.connect();
await db.query('listen qwf_events');
for (;;) {
  heard = false;
  await db.query('begin'); // the place and what is done about the events commit together
  const { rows: [place] } = await db.query('select seq from my_place for update');
  const { rows } = await db.query(
    'select seq, kind, subject, detail::text from qwf.events where seq > $1 order by seq limit 1000', [place.seq]);
  let last = BigInt(place.seq); // pg returns a bigint as text
  for (const event of rows) {
    const seq = BigInt(event.seq);
    if (last !== 0n && seq !== last + 1n && event.kind !== 'events_restarted') {
      console.error(`events ${last + 1n} to ${seq - 1n} are not there any more`);
    }
    await db.query('insert into my_events values ($1, $2, $3, $4)',
      [event.seq, event.kind, event.subject, event.detail]); // as text: numbers stay exact
    last = seq;
  }
  await db.query('update my_place set seq = $1', [String(last)]);
  await db.query('commit');
  if (rows.length === 0 && !heard) { // a notification may be missed: look every 10 s, too
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 10_000);
      wake = () => { clearTimeout(timer); resolve(); };
    });
  }
}
