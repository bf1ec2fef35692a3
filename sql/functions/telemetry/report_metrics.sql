-- Deploy qwf:functions/telemetry/report_metrics
-- Purpose: Takes a load sample of a host, keeps it for some minutes, and passes it on.
-- Guarantees: A value that is not a number becomes null.
-- Notifies: hw_metrics, but not at every call: see _send_metrics.
-- Called by: agents, one per host, every 5 seconds.

begin;

create function qwf.report_metrics(host text, sample jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
begin
  perform _qwf.check_json('sample', report_metrics.sample);
  if coalesce(report_metrics.host, '') = '' or octet_length(report_metrics.host) > 500
    or jsonb_typeof(report_metrics.sample) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid sample',
      detail = format('host %L, sample %s',
        left(report_metrics.host, 500), _qwf.excerpt(report_metrics.sample)),
      hint = 'pass the name of the host, and a JSON object as sample';
  end if;
  perform _qwf.check_keys('sample.', report_metrics.sample, '{cpu_percent,cpu_ours_percent,
    ram_percent,ram_used_mb,ram_total_mb,ram_ours_used_mb,swap_used_mb,gpus}');
  insert into qwf.host_metrics (
    host, sampled_at, cpu_percent, cpu_ours_percent, ram_percent, ram_used_mb, ram_total_mb,
    ram_ours_used_mb, swap_used_mb, gpus)
  select
    report_metrics.host, v_now, _qwf.as_number(s -> 'cpu_percent'),
    _qwf.as_number(s -> 'cpu_ours_percent'), _qwf.as_number(s -> 'ram_percent'),
    _qwf.as_number(s -> 'ram_used_mb', 2147483647)::int,
    _qwf.as_number(s -> 'ram_total_mb', 2147483647)::int,
    _qwf.as_number(s -> 'ram_ours_used_mb', 2147483647)::int,
    _qwf.as_number(s -> 'swap_used_mb', 2147483647)::int,
    case when jsonb_typeof(s -> 'gpus') = 'array' then s -> 'gpus' else '[]' end
  from (select report_metrics.sample as s) given
  on conflict (host, sampled_at) do nothing;
  perform _qwf.send_metrics();
end $$;
comment on function qwf.report_metrics is
  'Keeps a sample of a host for some minutes and sends it on channel hw_metrics, in a large fleet '
  'together with those of other hosts. sample: cpu_percent, cpu_ours_percent, ram_percent, '
  'ram_used_mb, ram_total_mb, ram_ours_used_mb, swap_used_mb, gpus: [{id, use_pct, vram_used_mb, '
  'vram_total_mb}]. QW005 for an invalid sample.';
call _qwf.allow('qwf.report_metrics', 'qwf_worker');

commit;
