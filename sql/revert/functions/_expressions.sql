-- Revert qwf:functions/_expressions

begin;

drop function qwf._expressions(jsonb, text);

commit;
