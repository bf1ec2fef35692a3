-- Deploy qwf:functions/lines/_mix_keyed
-- Purpose: Puts the picked jobs of keys and the other picked jobs of a claim into one order, and
--   returns as many as are asked for.
-- Guarantees: Order: run_next; the loaded model, unless a job of a key has waited for
--   affinity_max_wait; priority; turns. All jobs without a key have the turn at which the walk came
--   to the end of the line (in p_walk); they come last if it has not. At most p_startable (null:
--   any number) have a limit with a rate. What is left out stays queued.
-- Called by: _pick_keyed.

begin;

create function _qwf.mix_keyed(
  p_turns _qwf.keyed_job[], p_others _qwf.picked[], p_walk _qwf.limit_key[], p_now timestamptz,
  p_count int, p_startable int, p_model text)
returns _qwf.keyed_job[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_model text := p_model;
begin
  if p_model is not null and exists (
    select from unnest(p_turns) t join qwf.jobs j on j.ctid = (t.job).row
    where j.queued_at <= p_now - (select s.affinity_max_wait from qwf.settings s))
  then
    v_model := null;
  end if;
  return array(
    with job as (
      select c.*, j.run_next, j.priority, coalesce(j.required_model = v_model, false) as warm,
        row_number() over (partition by c.place is null, j.run_next,
          coalesce(j.required_model = v_model, false), j.priority order by c.n) as nth_other
      from (
        select t.job, t.place, t.lap, t.nth, t.rated, 0 as n from unnest(p_turns) t
        union all
        select p_others[i], null, null, null, null, i from generate_subscripts(p_others, 1) i) c
      cross join lateral (
        select b.run_next, b.priority, b.required_model
        from qwf.jobs b where b.ctid = (c.job).row offset 0) j
    ), placed as (
      select j.job, coalesce(j.place, case when e.nth is not null then -9223372036854775807 end)
          as place, coalesce(j.lap, j.nth_other) as lap,
        coalesce(j.rated, exists (
          select from qwf.jobs b join qwf.limits l on l.name = b.limit_by
          where b.ctid = (j.job).row and b.limit_place is null and l.starts is not null)) as rated,
        row_number() over (order by j.run_next desc, j.warm desc, j.priority,
          coalesce(j.nth, e.nth) is null, coalesce(j.lap, j.nth_other), coalesce(j.nth, e.nth),
          j.place is null desc) as n
      from job j
      left join unnest(p_walk) e on j.place is null and e.name is null and e.part = 2
        and e.band = j.priority - case when j.run_next then 4294967296 else 0 end
    ), counted as (
      select p.*, count(*) filter (where p.rated) over (order by p.n) as starts from placed p
    )
    select (c.job, c.place, c.lap, null, c.rated)::_qwf.keyed_job
    from counted c
    where (not c.rated or c.starts <= p_startable) is not false
    order by c.n
    limit p_count);
end $$;

commit;
