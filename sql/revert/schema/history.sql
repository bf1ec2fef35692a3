-- Revert qwf:schema/history

begin;

drop table qwf.run_files;
drop table qwf.input_answers;
drop table qwf.job_events;
drop table qwf.job_attempts;

commit;
