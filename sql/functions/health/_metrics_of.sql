-- Deploy qwf:functions/health/_metrics_of
-- Purpose: Returns the metrics of one part of the engine; if that fails, a warning says why, and
--   the row qwf_unreadable counts it.
-- Guarantees: A part that fails does not take the others with it. One that takes until the
--   statement timeout leaves itself out, and those after it. Who cancels the statement ends it.
-- Called by: the view metrics, with the rights of the owner, because no reader may use _qwf.

begin;

create function _qwf.metrics_of(p_part text) returns setof _qwf.metric
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit interval := nullif(current_setting('statement_timeout')::interval, '0');
  v_error text;
  v_hint text;
begin
  if clock_timestamp() - statement_timestamp() >= v_limit then
    raise exception using errcode = 'query_canceled', message = 'the statement timeout is over';
  end if;
  case p_part
    when 'queues' then return query select * from _qwf.queue_metrics();
    when 'workers' then return query select * from _qwf.worker_metrics();
    when 'attempts' then return query select * from _qwf.attempt_metrics();
    when 'runs' then return query select * from _qwf.run_metrics();
    when 'upkeep' then return query select * from _qwf.upkeep_metrics();
    when 'limits' then return query select * from _qwf.limit_metrics();
    when 'model servers' then return query select * from _qwf.model_server_metrics();
    when 'tables' then return query select * from _qwf.table_metrics();
    when 'boxes' then return query select * from _qwf.box_metrics();
  end case;
exception when query_canceled or others then
  if sqlstate = '57014' and (clock_timestamp() - statement_timestamp() < v_limit) is not false then
    raise;  -- somebody cancels the statement
  end if;
  get stacked diagnostics v_error = message_text, v_hint = pg_exception_hint;
  raise warning using message = format('the metrics of %s are left out: %s', p_part, v_error),
    hint = v_hint;
  return query select 'qwf_unreadable', null::jsonb, 1::float8, null, null;
end $$;
call _qwf.allow('_qwf.metrics_of', 'qwf_viewer');

commit;
