-- Deploy qwf:functions/enqueue/_is_receiver
-- Purpose: True for what can be the name of a receiver; an address never is one.
-- Guarantees: Null for null.
-- Called by: _action_problems, _engine_label, _schedule_problems, _with_notify.

begin;

create function _qwf.is_receiver(p_name text) returns boolean
language sql immutable parallel safe
return p_name ~ '^[A-Za-z][A-Za-z0-9_-]{0,62}$';

commit;
