-- Revert qwf:functions/_head_waited

begin;

drop function qwf._head_waited(text, qwf.workers, timestamptz, bigint[]);

commit;
