-- Verify qwf:functions/check_invariants

begin;

select 'qwf.check_invariants()'::regprocedure;

rollback;
