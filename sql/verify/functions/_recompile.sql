-- Verify qwf:functions/_recompile

begin;

select 'qwf._recompile(text)'::regprocedure;

rollback;
