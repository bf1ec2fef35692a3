-- Revert qwf:functions/_list

begin;

drop function qwf._list(jsonb);

commit;
