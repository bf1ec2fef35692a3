-- 2 tests
select is(has_function_privilege('qwf_admin', 'qwf.register_workflow(jsonb)', 'execute'),
  true, 'admin');
select is(has_function_privilege('qwf_producer', 'qwf.register_workflow(jsonb)', 'execute'), false,
  'producers may not');
