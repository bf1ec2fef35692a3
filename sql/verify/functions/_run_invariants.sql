-- Verify qwf:functions/_run_invariants

begin;

select 'qwf._run_invariants()'::regprocedure;

rollback;
