-- Revert qwf:functions/_is_true

begin;

drop function qwf._is_true(jsonb);

commit;
