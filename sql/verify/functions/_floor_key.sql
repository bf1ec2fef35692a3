-- Verify qwf:functions/_floor_key

begin;

select 'qwf._floor_key(text, text)'::regprocedure;

rollback;
