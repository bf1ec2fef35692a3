-- Revert qwf:functions/_is_pattern

begin;

drop function qwf._is_pattern(jsonb);

commit;
