-- Revert qwf:functions/create_queue

begin;

drop function qwf.create_queue(text, interval, interval, interval, int);

commit;
