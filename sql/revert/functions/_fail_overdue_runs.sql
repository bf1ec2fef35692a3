-- Revert qwf:functions/_fail_overdue_runs

begin;

drop function qwf._fail_overdue_runs();

commit;
