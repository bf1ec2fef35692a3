-- Revert qwf:functions/enqueue

begin;

drop function qwf.enqueue(text, jsonb, text, int, timestamptz, text, int, jsonb, interval, text, int, jsonb, text, text, interval, text, jsonb, boolean);

commit;
