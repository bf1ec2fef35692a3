-- Revert qwf:functions/_backoff_seconds

begin;

drop function qwf._backoff_seconds(jsonb, int);

commit;
