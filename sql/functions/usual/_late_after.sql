-- Deploy qwf:functions/usual/_late_after
-- Purpose: Returns after how many seconds a run, node or job is late: what is declared, else what
--   was learned: twice the time that 19 of 20 took, at least a minute more than that.
-- Guarantees: Null if nothing is declared, and fewer than 10 have completed.
-- Called by: the view of usual times, and what judges runs and jobs.

begin;

create function _qwf.late_after(p_takes jsonb, p_runs bigint, p_p95 real) returns float8
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(date_part('epoch', _qwf.as_interval(p_takes)),
    case when p_runs >= 10 then greatest(2 * p_p95, p_p95 + 60) end);
end $$;
call _qwf.allow('_qwf.late_after', 'qwf_viewer');

commit;
