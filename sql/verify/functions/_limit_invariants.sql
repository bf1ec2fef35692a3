-- Verify qwf:functions/_limit_invariants

begin;

select 'qwf._limit_invariants()'::regprocedure;

rollback;
