-- Revert qwf:functions/_check_run

begin;

drop function qwf._check_run(jsonb, jsonb, timestamptz);

commit;
