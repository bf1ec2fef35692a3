-- Verify qwf:functions/_look_sparingly

begin;

select 'qwf._look_sparingly(text)'::regprocedure;

rollback;
