-- Deploy qwf:functions/enqueue/_check_run
-- Purpose: Refuses an invalid context, labels or run_at of a run.
-- Raises: QW005.
-- Called by: enqueue_run.

begin;

create function _qwf.check_run(p_context jsonb, p_labels jsonb, p_run_at timestamptz)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max int;
begin
  if jsonb_typeof(p_context) is distinct from 'object'
    or jsonb_typeof(coalesce(p_labels, '{}')) <> 'object' then
    raise exception using errcode = 'QW005', message = 'context and labels must be JSON objects',
      detail = format('context: %s, labels: %s',
        coalesce(jsonb_typeof(p_context), 'null'), jsonb_typeof(p_labels)),
      hint = 'for example: select qwf.enqueue_run(''greet'', context => ''{"who": "Ada"}'')';
  end if;
  if p_run_at >= '10000-01-01' and isfinite(p_run_at) then
    raise exception using errcode = 'QW005', message = 'run_at is too far away',
      detail = format('run_at: %s', p_run_at),
      hint = 'give a time before the year 10000, or infinity to wait for change_job';
  end if;
  select s.max_value_bytes into v_max from qwf.settings s;
  if octet_length(p_context::text) > v_max then
    raise exception using errcode = 'QW005', message = 'context too large',
      detail = format('%s bytes, at most %s', octet_length(p_context::text), v_max),
      hint = 'put large data in a file or table and pass its path or id';
  end if;
end $$;

commit;
