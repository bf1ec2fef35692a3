-- Deploy qwf:functions/shared/_is_passing_error
-- Purpose: True for an error that no data causes and that a later try may not meet: a deadlock, a
--   serialization failure, a lock that is not available, a full disk, no memory. Anyone who can
--   connect can use up the memory for locks.
-- Called by: _change_runs, _enqueue_scheduled, _next_turn, _open_guarded, _reclaim,
--   _resolve_inputs, _retry_or_poison_events, _serve_run, _start_children,
--   _try_job, _try_rules, _turn_verdict.

begin;

create function _qwf.is_passing_error(p_sqlstate text) returns boolean
language sql immutable parallel safe
return left(p_sqlstate, 2) = '40' or p_sqlstate in ('53100', '53200', '55P03');

commit;
