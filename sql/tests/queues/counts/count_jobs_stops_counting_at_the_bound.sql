-- 3 tests
select qwf.create_limit('api', 1), qwf.create_limit('card', 1);
select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3);
select qwf.enqueue('t', queue => 'cpu', limit_by => 'api') from generate_series(1, 3);
select qwf.enqueue('t', queue => q, run_at => qwf.now() + '1 h') from unnest('{cpu,gpu}'::text[]) q;
select results_eq(
  $$ select most, c.queued, c.estimated, c.scheduled, c.more_scheduled
    from unnest('{1,4,6,7}'::int[]) most cross join lateral qwf.count_jobs(most) c
    where c.queue = 'cpu' $$,
  $$ values (1, 6, true, 1, true), (4, 6, true, 1, false), (6, 6, true, 1, false),
    (7, 6, false, 1, false) $$,
  'limited jobs and others together');
select is(more_scheduled, true, 'the bound on scheduled jobs counts all queues together')
from qwf.count_jobs(2) where queue = 'default';
select throws_ok($$ select * from qwf.count_jobs(0) $$, 'QW005', 'invalid bound', 'it is bounded');
