-- Verify qwf:functions/_resolved_inputs

begin;

select 'qwf._resolved_inputs(bigint, bigint, int)'::regprocedure;

rollback;
