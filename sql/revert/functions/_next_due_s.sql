-- Revert qwf:functions/_next_due_s

begin;

drop function qwf._next_due_s(timestamptz);

commit;
