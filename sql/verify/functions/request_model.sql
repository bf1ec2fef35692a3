-- Verify qwf:functions/request_model

begin;

select 'qwf.request_model(text, text, text, text, text)'::regprocedure;

rollback;
