-- Revert qwf:functions/_fetch

begin;

drop function qwf._fetch(jsonb, jsonb);

commit;
