-- 3 tests
-- What a body said last is what tells why it ended.
select qwf.enqueue('a');
select qwf_test.attempt('a', 'fatal', detail => jsonb_build_object('log_tail', (
  select string_agg(format('line %s', n), E'\n' order by n) from generate_series(1, 20000) n)));
select ok(log_tail ~ 'line 20000$', 'the last line') from qwf.job_attempts;
select ok(octet_length(log_tail) between 60000 and 65536, 'at most 64 KiB') from qwf.job_attempts;
select ok(log_tail !~ 'line 10\n', 'not the beginning') from qwf.job_attempts;
