-- Deploy qwf:functions/_check_worker
-- Purpose: Refuses a worker without a name, or with one that no index takes.
-- Raises: QW005.
-- Called by: echo, sleep.

begin;

create function qwf._check_worker(p_worker text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_worker is null then
    raise exception using errcode = 'QW005', message = 'no worker',
      detail = 'worker: null', hint = 'give the id that register_worker() returned, or a name';
  end if;
  perform qwf._check_key('', 'worker', p_worker);
end $$;
revoke all on function qwf._check_worker from public;

commit;
