-- Revert qwf:schema/roles
-- The roles stay: they belong to the cluster, and other databases or logins may use them.

begin;

drop procedure _qwf.allow;

commit;
