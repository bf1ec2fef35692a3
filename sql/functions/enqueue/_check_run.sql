-- Deploy qwf:functions/enqueue/_check_run
-- Purpose: Refuses a run with an argument that could not be stored, or that no agent could use.
-- Guarantees: Looks at everything except the workflow and whether the context fits it.
-- Raises: QW005; QW001 for an unknown limit.
-- Called by: enqueue_run, _option_problems.

begin;

create function _qwf.check_run(
  p_context jsonb, p_run_at timestamptz, p_key text, p_once boolean, p_out_dir text,
  p_project text, p_labels jsonb, p_limit_by text, p_max_attempts int, p_backoff jsonb)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := case
    when jsonb_typeof(p_context) is distinct from 'object'
      then format('context: a JSON object, not %s', coalesce(jsonb_typeof(p_context), 'null'))
    when jsonb_typeof(p_labels) <> 'object' then 'labels: a JSON object'
    when _qwf.engine_label(p_labels) is not null
      then 'labels: names that begin with qwf. are the engine''s own: '
        || _qwf.engine_label(p_labels)
    when not _qwf.is_readable_time(p_run_at) then 'run_at: within the years 1 to 9999, or infinity'
    when p_key = '' then 'key: not empty; leave it out, or give null, for a run without a key'
    when p_once and p_key is null
      then 'once: needs a key, because it keeps the key taken after the run has ended'
    when octet_length(p_key) > 500 then 'key: at most 500 bytes; use a digest of a longer one'
    when octet_length(p_project) > 500 then 'project: at most 500 bytes'
    when octet_length(p_out_dir) > 4096 then 'out_dir: at most 4096 bytes'
    when p_out_dir ~ '[[:cntrl:]]' then 'out_dir: no control characters'
    when p_out_dir ~ '(^|/)[.][.](/|$)' then 'out_dir: no .. in the path'
    when p_out_dir !~ '^[/~]' and p_out_dir ~ '^([.]?/)*jobs(/|$)|(^|/)[0-9]+(/|$)'
      then 'out_dir: a relative one does not begin with jobs, and has no number as name of a '
        'folder, because folders of jobs and runs have these names; write day-2026'
    when p_max_attempts not between 1 and 10000 then 'max_attempts: 1 to 10000'
    when p_backoff is not null and _qwf.backoff_seconds(p_backoff, 1) is null
      then 'backoff: a list of seconds such as [1, 5, 30], or {"base": 1, "factor": 2, '
        '"max": 600}, of at most 4 KiB; not ' || _qwf.excerpt(p_backoff, 100)
  end;
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid run', detail = v_problem,
      hint = 'correct the value and enqueue again; nothing was written; '
        'for example: select qwf.enqueue_run(''greet'', context => ''{"who": "Ada"}'')';
  end if;
  if p_limit_by is not null then
    perform _qwf.check_limit('', p_limit_by);
  end if;
  perform _qwf.check_json('context', p_context, s.max_value_bytes),
    _qwf.check_json('labels', p_labels)
  from qwf.settings s;
end $$;

commit;
