-- 2 tests
select is(has_function_privilege('qwf_admin', 'qwf.register_pipeline(jsonb)', 'execute'),
  true, 'admin');
select is(has_function_privilege('qwf_producer', 'qwf.register_pipeline(jsonb)', 'execute'), false,
  'producers may not');
