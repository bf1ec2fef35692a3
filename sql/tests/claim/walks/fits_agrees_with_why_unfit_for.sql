-- 4 tests
-- Every combination of what a job requires and what a worker announced: the first rows of jobs vary
-- all that can_run reads, for every worker of one host; the others all that only fits reads, for
-- workers that differ by host, project and labels. The two halves meet in an AND alone. What is
-- read is taken from the source: a column that the combinations do not vary fails the test.
select qwf_test.set_now('2026-01-01 12:00Z');
create temp table job as
select w as all_workers, jsonb_populate_record(null::qwf.jobs, jsonb_build_object(
  'id', 1, 'queue', q, 'task', t, 'status', 'queued', 'project', p, 'required_model', m,
  'vram_mb', v, 'requires', r::jsonb, 'attempt', a, 'expires_at', e, 'avoid_host', h,
  'avoid_until', u, 'key', k, 'key_state', s, 'run_next', n)) as job
from unnest('{"",p}'::text[]) p,
  lateral (
    select true, t, 'gpu', m, v, r, 0, null::timestamptz, null, null::timestamptz, null, 'u',
      v is null
    from unnest('{t,u}'::text[]) t, unnest('{null,sam}'::text[]) m,
      unnest('{null,8000}'::int[]) v, unnest(array['{}', '{"disk": "big"}']) r
    union all
    select false, 't', q, null, null, '{}', a, e, h, u, k, s, false
    from unnest('{gpu,cpu}'::text[]) q, unnest('{0,1}'::int[]) a,
      unnest('{null,2026-01-01 12:00Z,2026-01-01 12:01Z}'::timestamptz[]) e,
      unnest('{null,box}'::text[]) h,
      unnest('{null,2026-01-01 12:00Z,2026-01-01 12:05Z}'::timestamptz[]) u,
      (values (null, 'u'), ('k', 'w'), ('k', 's'), ('k', 'u'), ('free', 'w')) x (k, s)
  ) y (w, t, q, m, v, r, a, e, h, u, k, s, n);
select qwf.enqueue('t', key => 'k') is not null, (select count(*) from qwf.claim('default', 'x'));
create temp table worker as
select jsonb_populate_record(null::qwf.workers, jsonb_build_object(
  'id', 'w', 'host', h, 'queue', 'gpu', 'project', p, 'tasks', t::jsonb, 'models', m::jsonb,
  'vram_mb', v, 'labels', l::jsonb,
  'held_tasks', case when m = '[]' then '["t"]'::jsonb end)) as worker
from unnest('{box,other}'::text[]) h, unnest('{null,"",p}'::text[]) p,
  unnest(array[null, '["t"]', '["u"]']) t, unnest(array[null, '["sam"]', '[]']) m,
  unnest('{null,4000,8000}'::int[]) v, unnest(array['{}', '{"disk": "big", "x": 1}']) l
union all select null;
create function pg_temp.judged() returns table (fits boolean, misfits text[], job qwf.jobs)
language sql as $$
  select _qwf.fits(j.job, w.worker, '2026-01-01 12:00Z'),
    _qwf.why_unfit_for(j.job, w.worker, '2026-01-01 12:00Z'), j.job
  from job j join worker w on j.all_workers and (w.worker).host is distinct from 'other'
    or not j.all_workers and num_nonnulls((w.worker).tasks, (w.worker).models,
      (w.worker).vram_mb) = 0 $$;

create function pg_temp.unvaried(p_argument text, p_rows jsonb) returns setof text
language sql as $$
  select distinct c.name
  from pg_proc f cross join lateral (
    select m[1] from regexp_matches(f.prosrc, p_argument || '\.(\w+)', 'g') m) c (name)
  where f.oid in ('_qwf.fits'::regproc, '_qwf.can_run'::regproc, '_qwf.another_host_can'::regproc)
    and (select count(distinct coalesce(r -> c.name, 'null')) from jsonb_array_elements(p_rows) r)
      < 2 $$;

select is_empty($$
  select pg_temp.unvaried('p_job', (select jsonb_agg(j.job) from job j))
  union all select pg_temp.unvaried('p_worker', (select jsonb_agg(w.worker) from worker w)) $$,
  'every column that they read has more than one value here');
create temp table alone as select * from pg_temp.judged();
select is_empty('select * from alone where fits is null or fits <> (misfits = ''{}'')',
  'they agree if no other host could take it');
select qwf.register_worker('other', 'gpu');
delete from job j where (j.job).avoid_until is null;  -- another worker changes nothing about them
select is_empty($$
  select * from pg_temp.judged() where fits is null or fits <> (misfits = '{}')
$$, 'and if another host could');
select cmp_ok((select count(distinct misfits) from alone), '>', 60::bigint, 'in every way');
