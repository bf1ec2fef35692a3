-- Verify qwf:functions/_resume_maps

begin;

select 'qwf._resume_maps(bigint[], text)'::regprocedure;

rollback;
