-- Revert qwf:functions/request_model

begin;

drop function qwf.request_model(text, text, text, text, text);

commit;
