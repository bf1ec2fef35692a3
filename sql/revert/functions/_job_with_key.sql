-- Revert qwf:functions/_job_with_key

begin;

drop function qwf._job_with_key(text, text, text);

commit;
