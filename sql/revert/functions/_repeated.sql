-- Revert qwf:functions/_repeated

begin;

drop function qwf._repeated(qwf.report);

commit;
