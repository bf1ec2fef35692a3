-- 3 tests
insert into qwf.workers (id, host, queue, started_at, last_seen)
select 'w' || i, 'h' || i, 'cpu', qwf.now(), qwf.now() from generate_series(1, 10000) i;
select throws_ok($$ select qwf.register_worker('box', 'cpu') $$, 'QW002', 'too many workers',
  'one more is refused');

select qwf.enqueue('t', queue => 'cpu', requires => '{"gpu": "big"}');
update qwf.workers set labels = '{"gpu": "big"}', slots = 1 where id = 'w7777';
select results_eq('select * from qwf.why_not((select id from qwf.jobs))',
  $$ values ('no job is ahead of it in queue cpu') $$,
  'among them the one that can take a job is found');

update qwf.workers set last_seen = qwf.now() - interval '1 hour' where id = 'w1';
select lives_ok($$ select qwf.register_worker('box', 'cpu') $$, 'silent ones do not count');
