-- 5 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
create function pg_temp.say(jsonb) returns boolean language sql as $$
  select qwf.report_event(qwf_test.job('a'), qwf_test.token('a'), 'folder_moved', $1) $$;
select throws_ok($$ select pg_temp.say('[]') $$, 'QW005', 'invalid detail', 'a list');
select throws_ok('select pg_temp.say(null)', 'QW005', 'invalid detail', 'null');
select throws_ok($$ select pg_temp.say(jsonb_build_object('a', repeat('x', 17000))) $$, 'QW005',
  'value too large', 'more than 16 KiB');
select throws_ok($$ select qwf.report_event(1, gen_random_uuid(), 'job_failed', '{}') $$, 'QW005',
  'invalid kind', 'an event that the engine writes');
select throws_ok($$ select qwf.report_event(1, gen_random_uuid(), null, '{}') $$, 'QW005',
  'invalid kind', 'null');
