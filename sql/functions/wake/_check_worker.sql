-- Deploy qwf:functions/wake/_check_worker
-- Purpose: Refuses a worker without a name, or with a name too long for an index.
-- Raises: QW005.
-- Called by: echo, sleep.

begin;

create function _qwf.check_worker(p_worker text) returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_worker is null then
    raise exception using errcode = 'QW005', message = 'no worker',
      detail = 'worker: null', hint = 'give the id that register_worker() returned, or a name';
  end if;
  perform _qwf.check_text('worker', p_worker);
  if starts_with(p_worker, 'qwf.') then
    perform _qwf.refuse_engine_name('worker', p_worker);
  end if;
end $$;

commit;
