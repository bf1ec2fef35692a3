-- Revert qwf:functions/_decide

begin;

drop function qwf._decide(qwf.jobs, jsonb, text);

commit;
