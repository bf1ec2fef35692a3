-- 6 tests
create function pg_temp.finds(p_check text) returns setof text language sql as $$
  select d.level || ': ' || d.says || coalesce(' -> ' || d.hint, '')
  from qwf.doctor(array[p_check]) d
$$;
do $$
begin
  execute format('revoke connect on database %I from public', current_database());
end $$;
select is(pg_temp.finds('roles'),
  'fine: The four roles exist and have their grants.', 'as planned');
grant execute on function qwf.prune(int) to public;
select is(pg_temp.finds('roles'), 'problem: everybody may execute qwf.prune(integer) -> '
  'revoke all on function qwf.prune(integer) from public;', 'a function is open to everybody');
revoke all on function qwf.prune(int) from public;
revoke select on qwf.runs from qwf_viewer;
select is(pg_temp.finds('roles'), 'problem: qwf_viewer may not read qwf.runs -> as the owner of '
  'this database: qwf migrate grants | psql ADDRESS', 'viewers cannot read');
grant select on qwf.runs, qwf.jobs to qwf_viewer;
select matches(pg_temp.finds('roles'), 'problem: qwf_viewer may read the tokens of running jobs',
  'viewers could finish jobs');
alter role qwf_viewer rename to seer;
select results_eq($$select pg_temp.finds('roles')$$, $$values ('problem: role qwf_viewer is '
  'missing -> create role qwf_viewer nologin;  then, as the owner of this database: qwf migrate '
  'grants | psql ADDRESS')$$, 'a role is missing');
do $$
begin
  execute format('grant connect on database %I to public', current_database());
end $$;
select matches((select string_agg(f, '|') from pg_temp.finds('roles') f),
  'note: every login of this server may connect to the database', 'every login may connect');
