-- Revert qwf:functions/_edges

begin;

drop function qwf._edges(jsonb);

commit;
