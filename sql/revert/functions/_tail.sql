-- Revert qwf:functions/_tail

begin;

drop function qwf._tail(text, int);

commit;
