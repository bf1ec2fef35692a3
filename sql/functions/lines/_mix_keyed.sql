-- Deploy qwf:functions/lines/_mix_keyed
-- Purpose: Puts the picked jobs of keys among the other picked jobs of a claim, and returns as many
--   as are asked for.
-- Guarantees: Order: run_next, the loaded model, priority. Within one of these all jobs without a
--   key count as one more key: with ten keys they get every eleventh place, and which one is drawn
--   by lot. Jobs that are left out stay queued.
-- Called by: _pick.

begin;

create function _qwf.mix_keyed(
  p_others _qwf.picked[], p_keyed _qwf.picked[], p_model text, p_keys int, p_count int)
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lot float8 := random();
begin
  return array(
    with job as (
      select n.p, n.keyed, j.limit_place, j.run_next, j.priority,
        coalesce(j.required_model = p_model, false) as warm,
        row_number() over (partition by n.keyed, j.run_next,
          coalesce(j.required_model = p_model, false), j.priority order by n.nth) as nth
      from (
        select p_others[i] as p, i as nth, false as keyed from generate_subscripts(p_others, 1) i
        union all
        select p_keyed[i], i, true from generate_subscripts(p_keyed, 1) i
      ) n
      cross join lateral (
        select b.limit_place, b.run_next, b.priority, b.required_model
        from qwf.jobs b where b.id = (n.p).id offset 0) j
    ), placed as (
      select j.p, j.run_next, j.warm, j.priority, case when j.keyed then j.nth
        else (j.nth - 1 + v_lot) * (1 + greatest(p_keys, (
          select count(distinct k.limit_place) from job k
          where k.keyed and (k.run_next, k.warm, k.priority) = (j.run_next, j.warm, j.priority))))
        end as place
      from job j
    )
    select l.p from placed l
    order by l.run_next desc, l.warm desc, l.priority, l.place
    limit p_count);
end $$;

commit;
