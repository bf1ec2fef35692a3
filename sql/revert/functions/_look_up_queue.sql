-- Revert qwf:functions/_look_up_queue

begin;

drop function qwf._look_up_queue(text, text);

commit;
