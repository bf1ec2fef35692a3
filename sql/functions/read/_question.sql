-- Deploy qwf:functions/read/_question
-- Purpose: Returns the question that a job asks, as a front end needs it to show a form.
-- Guarantees: The keys of the step, resolved, without the error of a failed job, which can be long
--   and stands beside it. options is a list, also where the widget takes them from its source, or
--   null. Times are in UTC, with milliseconds as answer_job compares them.
-- Called by: open_questions, run_status.

begin;

create function _qwf.question(p_job qwf.jobs) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select ((p_job).input_spec - 'error') || jsonb_build_object(
    'widget', (p_job).input_spec ->> 'widget',
    'prompt', (p_job).input_spec ->> 'prompt',
    'options', case
      when jsonb_typeof((p_job).input_spec -> 'options') = 'array'
        then (p_job).input_spec -> 'options'
      when (p_job).input_spec ->> 'widget' in ('choose_one', 'turnout')
        and jsonb_typeof((p_job).input_spec -> 'source') = 'array'
        then (p_job).input_spec -> 'source' end,
    'since', to_char(coalesce((p_job).queued_at, (p_job).created_at) at time zone 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"'),
    'expires_at', case when (p_job).queue is null then to_char(
      (p_job).expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"') end)
$$;

commit;
