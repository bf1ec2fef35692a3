-- Revert qwf:functions/_unknown_names

begin;

drop function qwf._unknown_names(jsonb);

commit;
