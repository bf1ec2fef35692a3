-- 3 tests
select qwf_test.set_now('2040-01-01 10:00');
select qwf.report_metrics('odd', '{"gpus": [7, null, "x", [], {}, {"id": [1]},
  {"id": 1e300, "use_pct": 1e300, "vram_used_mb": -1e300, "vram_total_mb": "many"},
  {"id": "card", "use_pct": null, "vram_used_mb": 2.5, "more": {"a": 1}}]}');
select qwf.report_metrics('many', jsonb_build_object('gpus', (
  select jsonb_agg(jsonb_build_object(
    'id', repeat('x', 500) || g, 'vram_used_mb', 16777216, 'vram_total_mb', 16777217))
  from generate_series(1, 100) g)));
select qwf.report_metrics('none', '{"gpus": "x"}');
select qwf_test.travel('1 min');
select _qwf.record_minutes();
select is((select jsonb_path_query_array(h.gpus, '$[*].use_pct') from qwf.host_minutes h
  where h.host = 'odd'), '[null, null, null, null]', 'what is not a number is null');
select is((select h.gpus -> 3 from qwf.host_minutes h where h.host = 'odd'),
  '{"id": "card", "use_pct": null, "use_pct_max": null, "vram_used_mb": 3, "vram_used_mb_max": 3,
    "vram_total_mb": null}', 'a name stands for a card too');
select results_eq($$
  select h.host, jsonb_array_length(h.gpus), pg_column_size(h.gpus) < 20000
  from qwf.host_minutes h where h.host <> 'odd' order by 1 $$,
  $$ values ('many', 1, true), ('none', 0, true) $$, 'the length of a list is limited');
