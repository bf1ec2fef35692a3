-- Verify qwf:functions/take_model_requests

begin;

select 'qwf.take_model_requests(text)'::regprocedure;

rollback;
