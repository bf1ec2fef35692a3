-- 6 tests
create function pg_temp.happens(kind text) returns void language sql as $$
  insert into _qwf.event_log (at, kind) values (qwf.now(), kind) $$;

select qwf_test.set_now('2030-01-01');
select pg_temp.happens('worker_off') from generate_series(1, 3);
select _qwf.number_events();
select qwf_test.travel('20 days');
select pg_temp.happens('worker_on');
update _qwf.event_log set at = '2029-01-01' where kind = 'worker_on' and seq is null;
select pg_temp.happens('fired');
select _qwf.number_events();
select qwf_test.travel('71 days');
select pg_temp.happens('lost');
select is((qwf.prune(2) ->> 'events')::int, 2, 'as many as asked for');
select is((qwf.prune(2) ->> 'events')::int, 2, 'then the rest');
select results_eq('select kind, seq from _qwf.event_log order by id',
  $$ values ('fired', 5::bigint), ('lost', null) $$, 'younger ones stay');
select is((select first_seq from _qwf.event_numbers), 5::bigint, 'the first number is known');
select qwf_test.travel('91 days'), _qwf.number_events(), qwf.prune();
select is_empty('select * from _qwf.event_log', 'all are deleted');
select is((select first_seq from _qwf.event_numbers), 7::bigint, 'the next one is the first');
