-- Deploy qwf:functions/claim/_lock_permits
-- Purpose: Locks at most p_count permits of a limit: a free slot each, and a start that its rate
--   allows.
-- Guarantees: At most max_running slots are held, by running jobs and by claims that have not
--   committed: a slot is a row, and rivals skip a locked one. After a limit was lowered, each job
--   that runs above it leaves one free slot unused. A start is a row, too, which is used once in a
--   period: so no more jobs than there are rows start within any period, over all workers.
--   A limit that is held gives none.
-- Locks: starts and free slots of the limit that nobody else has locked.
-- Called by: _pick_special, _lock_wanted_permits.

begin;

create function _qwf.lock_permits(p_limit text, p_now timestamptz, p_count int)
returns _qwf.permit[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit qwf.limits;
  v_above int;
  v_starts int[];
  v_slots int[];
  v_count int := p_count;
begin
  select l.* into v_limit from qwf.limits l
  where l.name = p_limit and not exists (
    select from qwf.limit_holds h where h.name = l.name and h.until > p_now);
  if not found then
    return '{}';
  end if;
  if v_limit.starts is not null then
    v_starts := array(
      select t.place
      from qwf.limit_starts t
      where t.limit_name = p_limit and t.used_at <= p_now - v_limit.per
        and t.place <= v_limit.starts
      order by t.used_at
      limit v_count
      for no key update skip locked);
    v_count := cardinality(v_starts);
  end if;
  if v_count = 0 then
    return '{}';
  end if;
  select count(*) into v_above
  from qwf.limit_slots a
  where a.limit_name = p_limit and a.slot > v_limit.max_running and a.job_id is not null;
  v_slots := array(
    select s.slot
    from qwf.limit_slots s
    where s.limit_name = p_limit and s.slot <= v_limit.max_running and s.job_id is null
    order by s.slot
    limit v_count + v_above
    for no key update skip locked);
  return array(
    select (p_limit, v_slots[n], v_starts[n])::_qwf.permit
    from generate_series(1, cardinality(v_slots) - v_above) n);
end $$;

commit;
