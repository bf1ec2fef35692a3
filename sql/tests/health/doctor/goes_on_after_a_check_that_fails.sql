-- 4 tests
create function pg_temp.found() returns setof record language sql as $$
  select d.check, d.level, d.says, d.hint from qwf.doctor('{tick,runs}') d
$$;
create or replace function _qwf.doctor_tick() returns setof _qwf.finding language plpgsql as
  'begin raise exception ''the disk is broken''; end';
select results_eq($$select * from pg_temp.found() f (a text, b text, c text, d text)$$, $$values
  ('tick', 'unchecked', 'this could not be checked: the disk is broken', 'try again'),
  ('runs', 'fine', 'Events are applied.', null)$$, 'because of an error');
create or replace function _qwf.doctor_tick() returns setof _qwf.finding language plpgsql as
  'begin raise insufficient_privilege using message = ''permission denied''; end';
select results_eq($$select f.d from pg_temp.found() f (a text, b text, c text, d text)$$,
  $$values ('run it as a login with qwf_viewer or qwf_admin'), (null)$$, 'or for lack of rights');
create or replace function _qwf.doctor_tick() returns setof _qwf.finding language plpgsql as
  'begin perform pg_sleep(60); end';
set local statement_timeout = '100 ms';
create temp table after_timeout as
select * from pg_temp.found() f (a text, b text, c text, d text);
set local statement_timeout = 0;
select results_eq('select a, b from after_timeout', $$
  values ('tick', 'unchecked'), ('runs', 'fine')$$, 'or because it takes too long');
create or replace function _qwf.doctor_tick() returns setof _qwf.finding language plpgsql as
  'begin raise query_canceled; end';
create function pg_temp.is_cancelled() returns boolean language plpgsql as $$
begin
  perform qwf.doctor();
  return false;
exception when query_canceled then
  return true;
end $$;
select ok(pg_temp.is_cancelled(), 'who cancels it, ends it');
