-- Deploy qwf:functions/finish/_kept_detail
-- Purpose: Returns what an attempt keeps of the detail of its report: what the engine knows, up to
--   4095 bytes each; a long reason is cut. What may have run has that reason, and its own is the
--   cause.
-- Called by: _write_ends.

begin;

create function _qwf.kept_detail(p_detail jsonb, p_may_have_run boolean) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(d.key, k.value), '{}')
    || case when p_may_have_run then jsonb_build_object('reason', 'maybe_run',
      'cause', to_jsonb(left(p_detail ->> 'reason', 1000))) else '{}' end
  from jsonb_each(p_detail) d
  cross join lateral (select case d.key
    when 'reason' then to_jsonb(left(d.value #>> '{}', 1000)) else d.value end) k (value)
  where d.key in ('reason', 'exit_code', 'signal', 'max_rss_bytes', 'cpu_seconds',
      'gpu_peak_bytes', 'host', 'retry_after_s', 'usage', 'batch', 'body_s')
    and (d.key = 'reason' or _qwf.json_problem(d.value, 4095) is null)
$$;

commit;
