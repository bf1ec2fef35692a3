begin;
select plan(3);

select qwf_test.set_now('2030-01-01');
insert into _qwf.event_log (at, kind, detail)
select qwf.now(), 'worker_off', jsonb_build_object('n', n) from generate_series(1, 3) n;
select qwf_test.travel('20 days');
insert into _qwf.event_log (at, kind) values (qwf.now(), 'worker_on');
select qwf_test.travel('11 days');
select is((qwf.prune(2) ->> 'events')::int, 2, 'as many as asked for');
select is((qwf.prune(2) ->> 'events')::int, 1, 'then the rest');
select is((select string_agg(kind, ',') from _qwf.event_log), 'worker_on', 'younger ones stay');

select * from finish();
rollback;
