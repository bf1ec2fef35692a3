-- Revert qwf:functions/_wake

begin;

drop function qwf._wake(text, int);

commit;
