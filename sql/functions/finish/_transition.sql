-- Deploy qwf:functions/finish/_transition
-- Purpose: Decides the next state of a job whose attempt ended: the state machine of an attempt, in
--   one place.
-- Guarantees: Errors and transient failures count against max_attempts, losses against max_losses;
--   a release counts against neither. A transient failure waits at least detail.retry_after_s, a
--   release exactly so long (at least 1 s), both at most 366 days. A job that runs at most once and
--   whose body may have begun gets no other try, unless the body says itself that nothing happened
--   (a transient failure, or the reason later); if it said nothing, the outcome is maybe_run. A
--   card or a disk that failed under it is no word of it. A job that should stop never goes back to
--   the queue, and nobody is asked about it. Inlined into its caller's query: failing reports by
--   the hundred cost 1.2 times as much otherwise.
-- Called by: _write_ends.

begin;

create function _qwf.transition(
  p_outcome text, p_detail jsonb, p_error text, p_begun boolean, p_stopped boolean,
  p_failures int, p_losses int, p_options qwf.job_options,
  p_on_failure text, p_settings qwf.settings)
returns setof _qwf.transition
language sql stable rows 1
as $$
  select
    case
      when n.outcome = 'completed' then 'completed'
      when n.outcome = 'cancelled' or p_stopped then 'cancelled'
      when n.exhausted and p_on_failure = 'ask' then 'awaiting_input'
      when n.exhausted then 'failed'
      when n.wait > 0 then 'scheduled'
      else 'queued'
    end::qwf.job_status,
    n.outcome, n.failures, n.losses, n.wait, n.outcome in ('lost', 'released'),
    case when n.outcome = 'maybe_run' then 'it may have run: '
      when n.exhausted and n.outcome = 'lost'
      then format(case n.losses when 1 then 'lost once' else 'lost %s times' end
        || ', given up: ', n.losses) else '' end
    || coalesce(p_error, case when n.outcome = 'maybe_run' and p_outcome = 'released'
      then 'given back by its worker' || coalesce(' (' || n.reason || ')', '') end,
      n.reason, p_outcome),
    case when p_begun and (n.outcome in ('tempfail', 'released') or n.reason = 'arguments')
      then false else p_begun end
  from (
    select
      c.*,
      case c.outcome
        when 'error'
          then c.failures >= coalesce((p_options).max_attempts, p_settings.error_attempts)
        when 'tempfail'
          then c.failures >= coalesce((p_options).max_attempts, p_settings.transient_attempts)
        when 'lost' then c.losses >= coalesce((p_options).max_losses, p_settings.max_losses)
        else c.outcome in ('fatal', 'maybe_run')
      end as exhausted,
      case c.outcome
        when 'error' then c.spread * _qwf.backoff_seconds(
          coalesce((p_options).backoff, p_settings.error_backoff), c.failures)
        when 'tempfail' then greatest(c.asked, c.spread * _qwf.backoff_seconds(
          coalesce((p_options).backoff, p_settings.transient_backoff), c.failures))
        when 'released' then case when c.asked > 0 then greatest(c.asked, 1) end
      end as wait
    from (
      select o.outcome, o.reason, 0.9 + 0.2 * random() as spread,
        p_failures + (o.outcome in ('error', 'tempfail', 'fatal'))::int as failures,
        p_losses + (o.outcome in ('lost', 'maybe_run'))::int as losses,
        case when _qwf.as_number(p_detail -> 'retry_after_s') > 0
          then least((p_detail -> 'retry_after_s')::numeric, 31622400)::double precision
          end as asked
      from (select case
        when p_begun and case p_outcome
          when 'lost' then true
          when 'released' then coalesce(r.reason not in ('later', 'older_code'), true)
          when 'tempfail' then coalesce(r.reason in ('accelerator', 'disk_full'), false)
          else false end then 'maybe_run'
        when p_begun and p_outcome = 'error' then 'fatal'
        else p_outcome end, r.reason
        from (select left(p_detail ->> 'reason', 1000)) r (reason)
        offset 0) o (outcome, reason)
    ) c
  ) n
$$;

commit;
