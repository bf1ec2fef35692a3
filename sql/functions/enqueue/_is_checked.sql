-- Deploy qwf:functions/enqueue/_is_checked
-- Purpose: True when labels have the private mark of the typed Python client, which has compared
--   the arguments with the function of the task.
-- Guarantees: PostgreSQL inlines it. The mark is a label of the call and never one of the job.
-- Called by: _change_merged, _insert_job, _insert_keyless.

begin;

create function _qwf.is_checked(p_labels jsonb) returns boolean
language sql immutable
return coalesce(p_labels @> '{"qwf.checked": true}', false);

commit;
