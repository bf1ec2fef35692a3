-- Revert qwf:functions/_conclude

begin;

drop function qwf._conclude(qwf.report[]);

commit;
