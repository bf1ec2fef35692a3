-- Deploy qwf:functions/metrics/_metrics_of
-- Purpose: Returns the metrics of one part of the engine; if that fails, a warning says why, and
--   the row qwf_unreadable counts it.
-- Guarantees: A part that fails is left out as a whole, and does not take the others with it. One
--   that takes until the statement timeout leaves out itself and those after it. Who cancels the
--   statement ends it.
-- Called by: the view metric_series, with the rights of the owner, because no reader may use _qwf.

begin;

create function _qwf.metrics_of(p_part text) returns setof _qwf.metric_series
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit interval := nullif(current_setting('statement_timeout')::interval, '0');
  v_found _qwf.metric[];
  v_error text;
begin
  if clock_timestamp() - statement_timestamp() >= v_limit then
    raise exception using errcode = 'query_canceled', message = 'the statement timeout is over';
  end if;
  case p_part
    when 'queues' then v_found := array(select m from _qwf.queue_metrics() m);
    when 'workers' then v_found := array(select m from _qwf.worker_metrics() m);
    when 'attempts' then  -- many rows; it returns all or none, because it is not inlined
      return query select m.*, null::float8, null::bigint[] from _qwf.attempt_metrics() m;
    when 'histograms' then  -- the same
      return query select * from _qwf.histogram_series();
    when 'events' then v_found := array(select m from _qwf.event_metrics() m);
    when 'late' then  -- the same
      return query select m.*, null::float8, null::bigint[] from _qwf.late_metrics() m;
    when 'runs' then v_found := array(select m from _qwf.run_metrics() m);
    when 'upkeep' then v_found := array(select m from _qwf.upkeep_metrics() m);
    when 'limits' then v_found := array(select m from _qwf.limit_metrics() m);
    when 'model servers' then v_found := array(select m from _qwf.model_server_metrics() m);
    when 'tables' then v_found := array(select m from _qwf.table_metrics() m);
    when 'boxes' then v_found := array(select m from _qwf.box_metrics() m);
  end case;
  return query select m.*, null::float8, null::bigint[] from unnest(v_found) m;
exception when query_canceled or others then
  if sqlstate = '57014' and (clock_timestamp() - statement_timestamp() < v_limit) is not false then
    raise;  -- somebody cancels the statement
  end if;
  get stacked diagnostics v_error = message_text;
  raise warning using message = format('the metrics of %s are left out: %s', p_part, v_error),
    hint = 'correct this and repeat it; the other figures are right';
  return query select 'qwf_unreadable', null::text[], 1::float8, null, null, null::float8,
    null::bigint[];
end $$;
call _qwf.allow('_qwf.metrics_of', 'qwf_viewer');

commit;
