-- 4 tests
create function pg_temp.waits_for(p_parts text) returns text language sql as $$
  select qwf_test.question('confirm', jsonb_build_object('signal', p_parts::jsonb));
  select input_spec ->> 'signal' from qwf.jobs where id = qwf_test.job('ask');
$$;
select is(pg_temp.waits_for('["paid", "acme", "7:8"]'), 'paid:acme:7\:8', 'a colon in a part');
select isnt(pg_temp.waits_for('["paid", "acme:7", "8"]'),
  pg_temp.waits_for('["paid", "acme", "7", "8"]'), 'other parts, another name');
select results_eq($$
  select pg_temp.waits_for(p) from unnest(array['["paid", 4711]', '["paid", 4711.0]',
    '["paid", 4.711e3]', '["paid", "4711"]', '"paid:4711"']) p $$,
  array_fill('paid:4711'::text, '{5}'), 'a number is one name however it is written');
select results_eq($$
  select pg_temp.waits_for(p) from unnest(array['"a:b\\c"', '["a:b\\c"]', '["a\\", "b"]']) p $$,
  $$ values ('a:b\c'), ('a\:b\\c'), ('a\\:b') $$, 'a text stays what it is');
