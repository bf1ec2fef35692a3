-- Revert qwf:functions/_nodes_to_retry

begin;

drop function qwf._nodes_to_retry(qwf.runs, text);

commit;
