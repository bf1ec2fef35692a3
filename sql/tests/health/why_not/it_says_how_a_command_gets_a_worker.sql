-- 2 tests
create function pg_temp.why() returns text language sql as $$
  select string_agg(w, '; ') from qwf.why_not(qwf_test.job('command')) w $$;
select qwf.enqueue('command', '{"command": ["ls"]}');
select is(pg_temp.why(), 'no live worker serves queue default: start one with '
  'qwf agent --queue default --allow-commands DIR', 'nobody serves the queue');
select qwf.register_worker('box', 'default', '{"tasks": ["a"]}');
select alike(pg_temp.why(), 'worker box:default:% cannot take it: it runs no commands: '
  'start an agent with --allow-commands DIR', 'a worker without commands');
