-- Revert qwf:functions/pause_queue

begin;

drop function qwf.pause_queue(text);

commit;
