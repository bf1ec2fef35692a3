-- Revert qwf:functions/_resolution_error

begin;

drop function qwf._resolution_error(text);

commit;
