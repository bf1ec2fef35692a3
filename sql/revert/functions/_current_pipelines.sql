-- Revert qwf:functions/_current_pipelines

begin;

drop function qwf._current_pipelines(text[]);

commit;
