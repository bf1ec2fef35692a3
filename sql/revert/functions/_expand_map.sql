-- Revert qwf:functions/_expand_map

begin;

drop function qwf._expand_map(bigint, jsonb, jsonb);

commit;
