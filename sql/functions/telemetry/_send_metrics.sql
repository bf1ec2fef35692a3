-- Deploy qwf:functions/telemetry/_send_metrics
-- Purpose: Sends the samples of hosts that have not been sent, and forgets old ones.
-- Guarantees: A commit with NOTIFYs wakes every session of this database that listens to anything,
--   so each agent; one with many wakes them no more often than one with a single one. So the more
--   workers there are, the rarer: twenty milliseconds for each, two seconds at most. Samples older
--   than settings.metrics_keep go.
-- Locks: rows of host_metrics, where they are free.
-- Notifies: hw_metrics, with each sample as JSON.
-- Called by: report_metrics.

begin;

create function _qwf.send_metrics() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sent_at timestamptz := (select to_timestamp(m.last_value / 1000.0) from qwf.metrics_sent m);
  v_now timestamptz := qwf.now();  -- read after it: what another notes meanwhile is not the future
  v_workers int := (select count(*) from qwf.workers w where w.stopped_at is null);
  v_sample qwf.host_metrics;
  v_text text;
begin
  if v_now - v_sent_at between '0 s' and least('2 s', v_workers * interval '20 ms') then
    return;
  end if;
  perform setval('qwf.metrics_sent', floor(extract(epoch from v_now) * 1000)::bigint);
  for v_sample in
    update qwf.host_metrics m set sent = true
    from (
      select u.host, u.sampled_at from qwf.host_metrics u
      where not u.sent
      for update skip locked
    ) unsent
    where m.host = unsent.host and m.sampled_at = unsent.sampled_at
    returning m.*
  loop
    v_text := to_jsonb(v_sample) - 'sent' || jsonb_build_object('ram_ours_percent',
      least(100, round(100.0 * v_sample.ram_ours_used_mb / nullif(v_sample.ram_total_mb, 0), 1)));
    if octet_length(v_text) < 8000 then  -- the most a NOTIFY takes
      perform pg_notify('hw_metrics', v_text);
    end if;
  end loop;
  delete from qwf.host_metrics m
  using (
    select f.host, f.sampled_at from qwf.host_metrics f cross join qwf.settings s
    where f.sampled_at < v_now - s.metrics_keep
    for update of f skip locked
  ) old
  where m.host = old.host and m.sampled_at = old.sampled_at;
end $$;

commit;
