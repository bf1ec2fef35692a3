-- Revert qwf:functions/_raise_unknown_queue

begin;

drop function qwf._raise_unknown_queue(text, text);

commit;
