-- Deploy qwf:functions/lines/_find_skips
-- Purpose: Finds the parts of a band that hold no waiting job and many entries of jobs that have
--   left, from the turn on, and the places between them where jobs wait.
-- Guarantees: Steps over 200 keys at most, and returns 50 skips at most.
-- Called by: _keep_line.

begin;

create function _qwf.find_skips(
  p_round _qwf.round, p_band bigint, out skips _qwf.line_skip[], out places bigint[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from bigint := p_round.at;
  v_to bigint := 9223372036854775807;
  v_walked bigint;
  v_job record;
begin
  skips := '{}';
  places := '{}';
  for v_step in 1..202 loop
    v_walked := _qwf.index_entries_walked('qwf.jobs_keyed');
    select j.limit_place as place, j.position into v_job
    from qwf.jobs j
    where _qwf.line_of(j) = p_round.queue and _qwf.band_of(j) = p_band
      and j.limit_place > v_from and j.limit_place <= v_to and j.status in ('queued', 'running')
    order by j.limit_place, j.position limit 1;
    if _qwf.index_entries_walked('qwf.jobs_keyed') - v_walked > 100 and cardinality(skips) < 50 then
      skips := skips || (p_band, v_from, coalesce(v_job.place, v_to),
        coalesce(v_job.position, 9223372036854775807))::_qwf.line_skip;
    end if;
    if v_job.place is not null then
      places := places || v_job.place;
      v_from := v_job.place;
    else
      exit when v_to = p_round.at;
      v_from := -9223372036854775808;
      v_to := p_round.at;
    end if;
  end loop;
end $$;

commit;
