-- Revert qwf:functions/register_worker

begin;

drop function qwf.register_worker(text, text, jsonb);

commit;
