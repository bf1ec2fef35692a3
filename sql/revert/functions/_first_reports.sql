-- Revert qwf:functions/_first_reports

begin;

drop function qwf._first_reports(qwf.report[]);

commit;
