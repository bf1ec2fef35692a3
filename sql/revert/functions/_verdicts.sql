-- Revert qwf:functions/_verdicts

begin;

drop function qwf._verdicts(qwf.report[], qwf.ended[], bigint[]);

commit;
