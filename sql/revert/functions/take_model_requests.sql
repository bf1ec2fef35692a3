-- Revert qwf:functions/take_model_requests

begin;

drop function qwf.take_model_requests(text);

commit;
