-- Revert qwf:functions/_number

begin;

drop function qwf._number(jsonb, numeric);

commit;
