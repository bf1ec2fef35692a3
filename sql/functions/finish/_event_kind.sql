-- Deploy qwf:functions/finish/_event_kind
-- Purpose: What a run has to be told about a job whose attempt just ended. Inlined.
-- Called by: _end_attempts.

begin;

create function _qwf.event_kind(p_status qwf.job_status) returns text
language sql stable
as $$
  select case
    when p_status in ('queued', 'scheduled') then 'requeued'
    when p_status = 'awaiting_input' then 'asked'
    else p_status::text
  end
$$;

commit;
