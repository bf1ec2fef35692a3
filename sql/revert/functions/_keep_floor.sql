-- Revert qwf:functions/_keep_floor

begin;

drop function qwf._keep_floor(text);

commit;
