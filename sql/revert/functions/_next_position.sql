-- Revert qwf:functions/_next_position

begin;

drop function qwf._next_position(boolean);

commit;
