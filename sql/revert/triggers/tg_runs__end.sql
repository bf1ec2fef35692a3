-- Revert qwf:triggers/tg_runs__end

begin;

drop trigger tg_runs__end on qwf.runs;
drop trigger tg_runs__end_at_once on qwf.runs;
drop function qwf.tg_runs__end();

commit;
