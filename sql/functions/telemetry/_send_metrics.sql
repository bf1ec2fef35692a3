-- Deploy qwf:functions/telemetry/_send_metrics
-- Purpose: Sends the unsent samples of all hosts, and deletes old samples.
-- Guarantees: A commit with NOTIFYs wakes every listening session of this database, so every agent,
--   however many NOTIFYs it has. So samples are sent together, and the more workers there are, the
--   longer the interval: 20 ms for each worker, at most 2 s. Deletes samples older than
--   settings.metrics_keep.
-- Locks: rows of host_metrics that nobody has locked.
-- Notifies: hw_metrics, with each sample as JSON.
-- Called by: report_metrics.

begin;

create function _qwf.send_metrics() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sent_at timestamptz := (select to_timestamp(m.last_value / 1000.0) from qwf.metrics_sent m);
  v_now timestamptz := qwf.now();  -- read after v_sent_at, so that it is the later one
  v_workers int := (select count(*) from qwf.workers w where w.stopped_at is null);
  v_sample qwf.host_metrics;
  v_share numeric;
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
    v_share := round(100.0 * v_sample.ram_ours_used_mb / nullif(v_sample.ram_total_mb, 0), 1);
    v_text := to_jsonb(v_sample) - 'sent' || jsonb_build_object(
      'ram_ours_percent', case when v_share > 100 then 100 else v_share end);  -- null stays null
    if octet_length(v_text) < 8000 then  -- the limit of NOTIFY
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
