-- More may be due than one tick takes.
select count(*) from qwf.enqueue_many((
  select jsonb_agg(jsonb_build_object('task', 'a', 'run_at', qwf.now() + '1 min'))
  from generate_series(1, 1001)));
select qwf_test.travel('1 h');
create temp table done as select qwf.tick() as v;
select results_eq($$ select v -> 'promoted', v -> 'next_due_s' from done $$, $$
  values ('1000'::jsonb, '0'::jsonb) $$,
  'each part is bounded, and the rest is due at once');
