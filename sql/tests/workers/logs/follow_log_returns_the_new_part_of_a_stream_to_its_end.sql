-- 9 tests
select qwf.enqueue('a', max_attempts => 2, backoff => '[0]');
select qwf_test.claim('default');
create temp table at as select qwf_test.job('a') as job, qwf_test.token('a') as token;
create function pg_temp.followed(p_after bigint) returns text language sql as $$
  select concat_ws('|', f.status, f.streamed, f.stream, f.stream_ended)
  from at, qwf.follow_log(at.job, stream_after => p_after) f $$;

select is(pg_temp.followed(0), 'running', 'nothing has arrived yet');
select ok(qwf.report_log(job, token, 3, 'log', 5, 'one t'), 'sent') from at;
select is(pg_temp.followed(0), 'running|5|one t|f', 'and returned');
select qwf.report_log(job, token, 3, 'log', 8, 'one two,') from at;
select is(pg_temp.followed(5), 'running|8|wo,|f', 'only what is new');
select qwf_test.report('a', 'error');
select ok(not qwf.report_log(job, gen_random_uuid(), 3, 'log', 9, 'one two,x', true),
  'nobody else may end it') from at;
select ok(qwf.report_log(job, token, 3, 'log', 12, 'one two,thr ', true),
  'its worker may, when the attempt has ended') from at;
select is(pg_temp.followed(8), 'queued|12|thr |t', 'to the end');
select _qwf.promote_due();
select qwf_test.claim('default');
select is(pg_temp.followed(0), 'running', 'a new attempt begins anew');
select ok(not qwf.report_log(job, token, 3, 'log', 12, 'late', true),
  'and the attempt before writes nothing into it') from at;
