-- Verify qwf:functions/sleep

begin;

select 'qwf.sleep(text, text)'::regprocedure;

rollback;
