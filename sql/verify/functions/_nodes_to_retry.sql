-- Verify qwf:functions/_nodes_to_retry

begin;

select 'qwf._nodes_to_retry(qwf.runs, text)'::regprocedure;

rollback;
