-- Deploy qwf:functions/report_metrics
-- requires: schema/metrics
-- requires: schema/settings
-- requires: schema/roles
-- requires: functions/_number
-- requires: functions/now
-- Purpose: Takes a sample of how busy a host is, keeps it for some minutes, and passes it on.
-- Guarantees: What is no number becomes null; samples older than settings.metrics_keep go.
-- Notifies: hw_metrics, with the sample as JSON.
-- Raises: QW005 for a host without a name, or a sample that is no object.
-- Called by: agents, one per host, every five seconds.

begin;

create function qwf.report_metrics(host text, sample jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_sample text;
begin
  if coalesce(report_metrics.host, '') = '' or octet_length(report_metrics.host) > 500
    or jsonb_typeof(report_metrics.sample) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'not a sample',
      detail = format('host %L, sample %s',
        left(report_metrics.host, 500), left(report_metrics.sample::text, 200)),
      hint = 'name the host; the sample is a JSON object';
  end if;
  delete from qwf.host_metrics m using qwf.settings s where m.sampled_at < v_now - s.metrics_keep;
  insert into qwf.host_metrics (
    host, sampled_at, cpu_percent, cpu_ours_percent, ram_percent, ram_used_mb, ram_total_mb,
    ram_ours_used_mb, swap_used_mb, gpus)
  select
    report_metrics.host, v_now, qwf._number(s -> 'cpu_percent'),
    qwf._number(s -> 'cpu_ours_percent'), qwf._number(s -> 'ram_percent'),
    qwf._number(s -> 'ram_used_mb', 2147483647)::int,
    qwf._number(s -> 'ram_total_mb', 2147483647)::int,
    qwf._number(s -> 'ram_ours_used_mb', 2147483647)::int,
    qwf._number(s -> 'swap_used_mb', 2147483647)::int,
    case when jsonb_typeof(s -> 'gpus') = 'array' then s -> 'gpus' else '[]' end
  from (select report_metrics.sample as s) given
  on conflict (host, sampled_at) do nothing;
  v_sample := (report_metrics.sample
    || jsonb_build_object('host', report_metrics.host, 'sampled_at', v_now))::text;
  if octet_length(v_sample) < 8000 then  -- the most a NOTIFY takes
    perform pg_notify('hw_metrics', v_sample);
  end if;
end $$;
comment on function qwf.report_metrics(text, jsonb) is
  'Keeps a sample of a host for some minutes and sends it on channel hw_metrics. sample: '
  'cpu_percent, cpu_ours_percent, ram_percent, ram_used_mb, ram_total_mb, ram_ours_used_mb, '
  'ram_ours_percent, swap_used_mb, gpus: [{id, use_pct, vram_used_mb, vram_total_mb}]. QW005 for '
  'what is no sample.';
revoke all on function qwf.report_metrics(text, jsonb) from public;
call qwf._allow('qwf.report_metrics(text, jsonb)', 'qwf_worker');

commit;
