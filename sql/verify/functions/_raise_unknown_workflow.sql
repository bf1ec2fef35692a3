-- Verify qwf:functions/_raise_unknown_workflow

begin;

select 'qwf._raise_unknown_workflow(text)'::regprocedure;

rollback;
