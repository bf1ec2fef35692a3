-- 3 tests
create function pg_temp.usage(p_task text, p_usage jsonb) returns jsonb
language plpgsql
as $$
begin
  perform qwf.enqueue(p_task);
  perform qwf_test.attempt(p_task, detail => jsonb_build_object('usage', p_usage));
  return (
    select a.usage from qwf.attempt_overview a join qwf.jobs j on j.id = a.job_id
    where j.task = p_task);
end $$;

select is(pg_temp.usage('a', '{"completion_tokens": 7, "more": {"cached": 2}}'),
  '{"completion_tokens": 7, "more": {"cached": 2}}', 'as the server counted them');
select is(pg_temp.usage('b', '[7]'), null, 'nothing that is not an object');
select is(pg_temp.usage('c', jsonb_build_object('a', repeat('x', 5000))), null,
  'nothing that is longer than 4095 bytes');
