-- Verify qwf:views/setting_overview

begin;

select name, value, default_value, unit, about from qwf.setting_overview where false;

rollback;
