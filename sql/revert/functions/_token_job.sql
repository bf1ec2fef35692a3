-- Revert qwf:functions/_token_job

begin;

drop function qwf._token_job(uuid);

commit;
