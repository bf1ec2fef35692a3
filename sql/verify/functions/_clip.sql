-- Verify qwf:functions/_clip

begin;

select 'qwf._clip(text, int)'::regprocedure;

rollback;
