-- Verify qwf:functions/_row_invariants

begin;

select 'qwf._row_invariants()'::regprocedure;

rollback;
