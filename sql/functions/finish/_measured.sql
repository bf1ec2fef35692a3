-- Deploy qwf:functions/finish/_measured
-- Purpose: Returns what the row of an attempt keeps of the detail of a report.
-- Guarantees: An invalid number becomes null, a long text is cut: the report is not lost. Inlined
--   into its caller's query.
-- Called by: _record_attempts, _write_completed.

begin;

create function _qwf.measured(p_detail jsonb)
returns table (
  reason text, exit_code int, signal int, max_rss_bytes bigint, cpu_seconds real,
  gpu_peak_bytes bigint, log_tail text, usage jsonb)
language sql stable rows 1
as $$
  select
    left(p_detail ->> 'reason', 1000),
    _qwf.as_number(p_detail -> 'exit_code', 65535)::int,
    _qwf.as_number(p_detail -> 'signal', 255)::int,
    _qwf.as_number(p_detail -> 'max_rss_bytes')::bigint,
    _qwf.as_number(p_detail -> 'cpu_seconds')::real,
    _qwf.as_number(p_detail -> 'gpu_peak_bytes')::bigint,
    _qwf.tail(p_detail ->> 'log_tail', (select s.max_log_bytes from qwf.settings s)),
    case when jsonb_typeof(p_detail -> 'usage') = 'object' then
      case when _qwf.json_problem(p_detail -> 'usage', 4095) is null then p_detail -> 'usage' end
    end
$$;

commit;
