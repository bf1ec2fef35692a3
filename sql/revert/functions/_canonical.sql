-- Revert qwf:functions/_canonical

begin;

drop function qwf._canonical(jsonb, jsonb);

commit;
