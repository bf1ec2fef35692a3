-- Revert qwf:functions/_reopen_run

begin;

drop function qwf._reopen_run(qwf.runs);

commit;
