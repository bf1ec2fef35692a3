-- Revert qwf:functions/_substitute

begin;

drop function qwf._substitute(jsonb, text[], jsonb);

commit;
