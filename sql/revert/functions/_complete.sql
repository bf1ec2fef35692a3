-- Revert qwf:functions/_complete

begin;

drop function qwf._complete(qwf.held[], timestamptz);

commit;
