-- Revert qwf:functions/_is_timezone

begin;

drop function qwf._is_timezone(text);

commit;
