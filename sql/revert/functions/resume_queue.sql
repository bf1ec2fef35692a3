-- Revert qwf:functions/resume_queue

begin;

drop function qwf.resume_queue(text);

commit;
