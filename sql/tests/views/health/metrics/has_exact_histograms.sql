-- 5 tests
insert into qwf.attempt_counts
values ('2030-01-01', 'cpu', 'a', 'completed', '{0.5, 0.5, 0.5, 0.5}',
  '{0.0005, 0.002, 0.5, 200000}');
select _qwf.roll_up_counts();
create function pg_temp.below(p_name text, p_le text) returns float8 language sql as $$
  select m.value from qwf.metrics m
  where m.name = p_name and coalesce(m.labels ->> 'le', '') = p_le $$;
select is(pg_temp.below('qwf_attempt_body_seconds_bucket', '0.001000'), 1::float8,
  'one is below a millisecond');
select is(pg_temp.below('qwf_attempt_body_seconds_bucket', '0.002986'), 2::float8, 'two');
select is(pg_temp.below('qwf_attempt_body_seconds_bucket', '+Inf'), 4::float8, 'all of them');
select is(pg_temp.below('qwf_attempt_queue_seconds_count', ''), 4::float8, 'how many waited');
select is(pg_temp.below('qwf_attempt_queue_seconds_sum', ''), 2::float8, 'and for how long');
