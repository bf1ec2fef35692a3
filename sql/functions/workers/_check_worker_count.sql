-- Deploy qwf:functions/workers/_check_worker_count
-- Purpose: Refuses one more worker if 10,000 are live.
-- Guarantees: Workers that have stopped or are silent do not count: nobody reads them to find out
--   why a job waits.
-- Raises: QW002.
-- Called by: register_worker.

begin;

create function _qwf.check_worker_count(p_now timestamptz) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if (
    select count(*) >= 10000 from qwf.workers w cross join qwf.settings s
    where w.stopped_at is null and w.last_seen > p_now - s.worker_stale)
  then
    raise exception using errcode = 'QW002', message = 'too many workers',
      detail = '10000 workers are live',
      hint = 'find the host that registers again and again: select host, count(*) from '
        'qwf.workers where stopped_at is null group by host order by 2 desc limit 5';
  end if;
end $$;

commit;
