-- Revert qwf:functions/_names

begin;

drop function qwf._names(jsonb);

commit;
