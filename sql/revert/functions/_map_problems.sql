-- Revert qwf:functions/_map_problems

begin;

drop function qwf._map_problems(jsonb, text);

commit;
