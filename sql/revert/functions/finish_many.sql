-- Revert qwf:functions/finish_many

begin;

drop function qwf.finish_many(jsonb);

commit;
