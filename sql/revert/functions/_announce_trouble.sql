-- Revert qwf:functions/_announce_trouble

begin;

drop function qwf._announce_trouble(qwf.jobs);

commit;
