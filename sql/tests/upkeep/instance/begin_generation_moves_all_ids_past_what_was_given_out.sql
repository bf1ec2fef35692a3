-- 6 tests
select qwf.enqueue('before');
create temp table done as select qwf.begin_generation() as told;
select results_eq(
  $$ select (told ->> 'generation')::int, told ->> 'instance', told -> 'paused' from done $$,
  $$ select 2, i.id::text, '[]'::jsonb from qwf.instance i $$, 'it tells what it did');
select ok(qwf.enqueue('after') >= qwf_test.job('before') + 1000000, 'ids have moved on');
select is(qwf_test.job('after'), (select (told -> 'next_ids' ->> 'jobs')::bigint from done),
  'to where it says');
select is_empty($$
  select a.attrelid::regclass from pg_attribute a, done
  where a.attidentity <> '' and a.attrelid::regclass::text like '%qwf.%'
    and not told -> 'next_ids' ? split_part(a.attrelid::regclass::text, '.', 2)
$$, 'those of every table');
select qwf.begin_generation();
select ok(qwf.enqueue('again') >= qwf_test.job('after') * 2 + 1000000 - 2, 'and again');
select is((select i.generation from qwf.instance i), 3, 'a third generation');
