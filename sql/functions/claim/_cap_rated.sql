-- Deploy qwf:functions/claim/_cap_rated
-- Purpose: Finds the picked jobs whose limit has a rate, and drops those beyond the first
--   p_startable.
-- Guarantees: Keeps the order. The walks have picked no more of one kind of limit already: more are
--   there only if jobs of plain limits and of limits by key came together. What is dropped stays
--   queued, and uses no start. The claim then hands out fewer jobs than it was asked for, but as
--   many as the worker could begin.
-- Called by: _pick_special.

begin;

create function _qwf.cap_rated(p_pick _qwf.special_pick, p_startable int)
returns _qwf.special_pick
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pick _qwf.special_pick := p_pick;
begin
  v_pick.rated := array(
    select (p_pick.jobs[i]).id
    from generate_subscripts(p_pick.jobs, 1) i
    where exists (
      select from qwf.jobs j
      join qwf.limits l on l.starts is not null
        and l.name = case when j.limit_place is null then j.limit_by
          else split_part(j.limit_by, ':', 1) end
      where j.id = (p_pick.jobs[i]).id)
    order by i);
  if cardinality(v_pick.rated) > p_startable then
    v_pick.jobs := array(
      select p from unnest(p_pick.jobs) p where p.id <> all (v_pick.rated[p_startable + 1 :]));
    v_pick.rated := v_pick.rated[: p_startable];
  end if;
  v_pick.capped := v_pick.rated <> '{}' and cardinality(v_pick.rated) = p_startable;
  return v_pick;
end $$;

commit;
