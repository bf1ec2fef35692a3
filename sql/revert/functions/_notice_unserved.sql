-- Revert qwf:functions/_notice_unserved

begin;

drop function qwf._notice_unserved(text);

commit;
