-- 5 tests
-- A NOTIFY arrives only at commit, so this test looks at which samples are marked as sent.
create function pg_temp.unsent() returns text language sql as
  'select string_agg(host, '' '' order by host) from qwf.host_metrics where not sent';

select qwf_test.set_now('2030-01-01');
select qwf.report_metrics('a', '{}');
select is(pg_temp.unsent(), null, 'the first is sent at once');
insert into qwf.workers (id, host, queue) select 'w' || n, 'h', 'cpu' from generate_series(1, 50) n;
select qwf_test.travel('0.9 s'), qwf.report_metrics('b', '{}');
select qwf.report_metrics('c', '{}');
select is(pg_temp.unsent(), 'b c', 'the next ones wait: 20 ms for each worker');
select qwf_test.travel('0.2 s'), qwf.report_metrics('d', '{}');
select is(pg_temp.unsent(), null, 'and are sent together');
insert into qwf.workers (id, host, queue)
select 'x' || n, 'h', 'cpu' from generate_series(1, 500) n;
select qwf_test.travel('2.1 s'), qwf.report_metrics('a', '{}');
select is(pg_temp.unsent(), null, 'after two seconds at most');
select qwf_test.travel('-1 h'), qwf.report_metrics('a', '{}');
select is(pg_temp.unsent(), null, 'also when the clock has been set back');
