-- Verify qwf:functions/submit_input

begin;

select 'qwf.submit_input(bigint, text, jsonb, text)'::regprocedure;

rollback;
