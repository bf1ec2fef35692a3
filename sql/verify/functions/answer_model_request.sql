-- Verify qwf:functions/answer_model_request

begin;

select 'qwf.answer_model_request(bigint, text, text)'::regprocedure;

rollback;
