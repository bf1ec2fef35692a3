-- Deploy qwf:functions/enqueue/_origin_of
-- Purpose: Returns who makes a standalone job: python, if its labels have the private mark of the
--   typed Python client, which has compared the arguments with the function of the task; else api.
-- Guarantees: PostgreSQL inlines it. The mark is a label of the call and never one of the job.
-- Called by: _change_merged, _insert_job, _insert_keyless, enqueue.

begin;

create function _qwf.origin_of(p_labels jsonb) returns text
language sql immutable
return case when p_labels @> '{"qwf.checked": true}' then 'python' else 'api' end;

commit;
