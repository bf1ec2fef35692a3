-- Verify qwf:functions/_bucket

begin;

select 'qwf._bucket(real)'::regprocedure;

rollback;
