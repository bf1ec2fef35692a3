-- Revert qwf:functions/enqueue_run

begin;

drop function qwf.enqueue_run(text, jsonb, int, timestamptz, text, text, text, jsonb, boolean);

commit;
