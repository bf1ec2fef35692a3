-- Revert qwf:functions/_filter

begin;

drop function qwf._filter(jsonb, jsonb);

commit;
