-- Revert qwf:functions/_hold

begin;

drop function qwf._hold(qwf.report[]);

commit;
