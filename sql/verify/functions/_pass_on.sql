-- Verify qwf:functions/_pass_on

begin;

select 'qwf._pass_on(text, qwf.workers, timestamptz)'::regprocedure;

rollback;
