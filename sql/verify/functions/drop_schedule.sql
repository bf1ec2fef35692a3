-- Verify qwf:functions/drop_schedule

begin;

select 'qwf.drop_schedule(text)'::regprocedure;

rollback;
