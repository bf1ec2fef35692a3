-- Revert qwf:functions/_read_cron_field

begin;

drop function qwf._read_cron_field(text, int, int, text[]);

commit;
