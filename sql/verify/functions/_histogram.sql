-- Verify qwf:functions/_histogram

begin;

select 'qwf._histogram(real[])'::regprocedure;

rollback;
