-- Revert qwf:schema/model_requests

begin;

drop table qwf.model_requests;

commit;
