-- Revert qwf:functions/_check

begin;

drop function qwf._check(jsonb, jsonb);

commit;
