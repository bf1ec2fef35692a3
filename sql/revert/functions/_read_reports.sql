-- Revert qwf:functions/_read_reports

begin;

drop function qwf._read_reports(jsonb);

commit;
