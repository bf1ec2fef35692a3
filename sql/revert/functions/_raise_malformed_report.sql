-- Revert qwf:functions/_raise_malformed_report

begin;

drop function qwf._raise_malformed_report(jsonb);

commit;
