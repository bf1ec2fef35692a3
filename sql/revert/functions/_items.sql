-- Revert qwf:functions/_items

begin;

drop function qwf._items(jsonb);

commit;
