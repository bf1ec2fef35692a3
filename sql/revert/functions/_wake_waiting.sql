-- Revert qwf:functions/_wake_waiting

begin;

drop function qwf._wake_waiting(text, int);

commit;
