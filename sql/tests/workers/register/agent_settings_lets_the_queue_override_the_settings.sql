select qwf.create_queue('night', lease => '2 min', timeout => '8 h');
update qwf.settings set poll = '0.5 s';
select results_eq($$
  select (s ->> 'lease')::numeric, (s ->> 'timeout')::numeric, (s ->> 'poll')::numeric
  from qwf.agent_settings('night') s
$$, $$ values (120::numeric, 28800::numeric, 0.5) $$, 'over that of the settings');
