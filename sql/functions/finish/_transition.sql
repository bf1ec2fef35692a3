-- Deploy qwf:functions/finish/_transition
-- Purpose: Decides the next state of a job whose attempt ended: the state machine of an attempt, in
--   one place.
-- Guarantees: Errors and transient failures count against max_attempts, losses against max_losses;
--   a release counts against neither, and waits p_retry_after_s if that is given. maybe_run is an
--   end without a word of the body, which may run at most once: no try follows. A job that should
--   stop never goes back to the queue, and nobody is asked about it. Inlined into its caller's
--   query.
-- Called by: _write_ended.

begin;

create function _qwf.transition(
  p_outcome text, p_stopped boolean, p_failures int, p_losses int, p_max_attempts int,
  p_max_losses int, p_backoff jsonb, p_on_failure text, p_retry_after_s numeric,
  p_settings qwf.settings)
returns setof _qwf.transition
language sql stable rows 1
as $$
  select
    case
      when p_outcome = 'completed' then 'completed'
      when p_outcome = 'cancelled' or p_stopped then 'cancelled'
      when n.exhausted and p_on_failure = 'ask' then 'awaiting_input'
      when n.exhausted then 'failed'
      when n.wait > 0 then 'scheduled'
      else 'queued'
    end::qwf.job_status,
    n.failures,
    n.losses,
    n.wait,
    p_outcome in ('lost', 'released'),
    case when p_outcome = 'maybe_run' then 'it may have run: '
      when n.exhausted and p_outcome = 'lost'
      then format(case n.losses when 1 then 'lost once' else 'lost %s times' end
        || ', given up: ', n.losses) else '' end
  from (
    select
      c.failures, c.losses,
      case p_outcome
        when 'error' then c.failures >= coalesce(p_max_attempts, p_settings.error_attempts)
        when 'tempfail' then c.failures >= coalesce(p_max_attempts, p_settings.transient_attempts)
        when 'lost' then c.losses >= coalesce(p_max_losses, p_settings.max_losses)
        else p_outcome in ('fatal', 'maybe_run')
      end as exhausted,
      case p_outcome
        when 'error'
          then _qwf.backoff_seconds(coalesce(p_backoff, p_settings.error_backoff), c.failures)
        when 'tempfail'
          then _qwf.backoff_seconds(coalesce(p_backoff, p_settings.transient_backoff), c.failures)
        when 'released' then p_retry_after_s::double precision
      end as wait
    from (select
      p_failures + (p_outcome in ('error', 'tempfail', 'fatal'))::int as failures,
      p_losses + (p_outcome in ('lost', 'maybe_run'))::int as losses) c
  ) n
$$;

commit;
