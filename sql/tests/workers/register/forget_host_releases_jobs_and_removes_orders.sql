-- 6 tests
select qwf_test.set_now('2026-01-01 12:00');
create temp table w as select qwf.register_worker('box', 'cpu', '{"slots": 2}') as id;
select qwf.register_worker('other', 'cpu');
select qwf.worker_control('box', 'gpu', 'off', reason => 'gone');
select qwf.worker_control('other', 'gpu', 'off');
select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 2);
select count(*) from w, qwf.claim('cpu', w.id, 2);

select throws_ok($$ select qwf.forget_host('box') $$, 'QW002', null, 'not while it is alive');
select is((select count(*) from qwf.jobs j where j.status = 'running'), 2::bigint,
  'which changes nothing');

update qwf.workers set last_seen = last_seen - interval '1 h' where host = 'box';
select lives_ok($$ select qwf.forget_host('box') $$, 'a dead box is forgotten');
select is((select count(*) from qwf.jobs j where j.status = 'queued' and j.losses = 0), 2::bigint,
  'its jobs wait again, and no loss is counted');
select results_eq('select o.host from qwf.order_overview o', $$ values ('other') $$,
  'the orders for it are gone, those of others stay');
select lives_ok($$ select qwf.forget_host('box') $$, 'a second time does no harm');
