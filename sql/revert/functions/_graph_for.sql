-- Revert qwf:functions/_graph_for

begin;

drop function qwf._graph_for(text);

commit;
