-- Revert qwf:functions/_waits

begin;

drop function qwf._waits(jsonb, jsonb, jsonb[]);

commit;
