-- Deploy qwf:functions/alerts/_alert_key
-- Purpose: Returns which events of a rule are one alert: those with the same key.
-- Guarantees: A queue, a schedule, a host, a workflow and a task of one name are five alerts: what
--   ends one ends no other. A question is always one by itself, and what ends it has the same
--   key. An event without a job and a run counts by its subject where others count by those. Of a
--   label, the first 500 characters count: an index takes no more than 2,700 bytes.
-- Called by: _fold_events.

begin;

create function _qwf.alert_key(
  p_by text, p_counts_as text, p_bad boolean, p_kind text, p_seq bigint, p_run bigint, p_job bigint,
  p_subject text, p_names jsonb, p_labels jsonb)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_by in ('event', 'job', 'subject') and (starts_with(p_kind, 'question')
        or not p_bad and p_kind in ('expired', 'cancelled'))
      then coalesce('job ' || p_job, 'run ' || p_run, p_subject, '')
    when p_by = 'event' then p_seq::text
    when p_by = 'rule' then ''
    when starts_with(p_by, 'label.') then coalesce(left(p_labels ->> substr(p_by, 7), 500), '')
    when p_by = 'run' and p_run is not null then 'run ' || p_run
    when p_counts_as = 'alert_failed' then coalesce(p_names ->> 'alert', '')
    when p_by = 'job' then coalesce('job ' || p_job, 'run ' || p_run, p_subject, '')
    when p_by in ('subject', 'run') then coalesce(case
        when p_job is not null then 'task '
        when p_run is not null or p_kind = 'overdue' then 'workflow '
        when starts_with(p_kind, 'queue') then 'queue '
        when starts_with(p_kind, 'schedule') then 'schedule '
        when starts_with(p_kind, 'worker') or starts_with(p_kind, 'server')
          or starts_with(p_kind, 'host') then 'host '
        else '' end || p_subject, '')
    else coalesce(p_names ->> p_by, '') end
$$;

commit;
