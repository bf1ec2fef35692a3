-- Verify qwf:functions/_verdicts

begin;

select 'qwf._verdicts(qwf.report[], qwf.ended[], bigint[])'::regprocedure;

rollback;
