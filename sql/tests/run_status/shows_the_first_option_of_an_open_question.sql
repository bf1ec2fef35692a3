begin;
select plan(4);

create function pg_temp.option() returns jsonb language sql as $$
  select qwf.run_status(qwf_test.run()) #> '{nodes,0,option}'
$$;
select qwf_test.question('choose_one', '{"prompt": "Which?", "options": ["red", "blue"]}');
select is(pg_temp.option(), '"red"', 'of "options"');
select qwf.submit_input(qwf_test.run(), 'ask', '"blue"');
select is(pg_temp.option(), null, 'none once it is answered');
select qwf_test.question('choose_one', '{"prompt": "Which?", "source": ["left", "right"]}');
select is(pg_temp.option(), '"left"', 'of "source", which a widget with options may have instead');
select qwf_test.question('confirm', '{"prompt": "Go?"}');
select is(pg_temp.option(), null, 'none of a question without options');

select * from finish();
rollback;
