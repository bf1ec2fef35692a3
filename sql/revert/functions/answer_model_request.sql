-- Revert qwf:functions/answer_model_request

begin;

drop function qwf.answer_model_request(bigint, text, text);

commit;
