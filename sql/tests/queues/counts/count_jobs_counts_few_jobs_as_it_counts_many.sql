-- 4 tests
create function pg_temp.seen(p_queue text, out queued int, out head int, out oldest text)
language sql as $$
  select c.queued, j.priority, c.oldest_since::text
  from qwf.count_jobs() c left join qwf.jobs j on j.id = c.head where c.queue = p_queue
$$;

select is(pg_temp.seen('cpu'), row(0, null::int, null::text)::record, 'an empty queue has no head');

create temp table job as
select qwf.enqueue('t', queue => 'cpu', priority => p) as id from unnest('{7,5,5,9}'::int[]) p;
update qwf.jobs j set queued_at = '2030-01-01'::timestamptz + (j.id - (select min(id) from job))
  * interval '1 hour';
create temp table few as select * from pg_temp.seen('cpu');
select is((select row(f.queued, f.head)::text from few f), '(4,5)',
  'the head of a few is the first in claim order');

select qwf.enqueue('t', queue => 'cpu', priority => 5) from generate_series(1, 40);
update qwf.jobs j set queued_at = '2031-01-01' where j.id not in (select id from job);
select is((select row(s.queued, s.head)::text from pg_temp.seen('cpu') s), '(44,5)',
  'and so is that of many');
select is((select oldest from pg_temp.seen('cpu')), (select oldest from few),
  'who waits longest is the same');
