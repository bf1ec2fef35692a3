-- Revert qwf:functions/_object

begin;

drop function qwf._object(jsonb);

commit;
