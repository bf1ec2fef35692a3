-- Verify qwf:functions/_nearest

begin;

select 'qwf._nearest(text, text[])'::regprocedure;

rollback;
