-- Revert qwf:functions/_read_cron

begin;

drop function qwf._read_cron(text);

commit;
