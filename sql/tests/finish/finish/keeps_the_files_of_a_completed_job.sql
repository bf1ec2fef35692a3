select qwf.enqueue('a');
select qwf_test.attempt('a', detail => '{"host": "box", "files": [
  {"rel_path": "a.png", "kind": "image", "size_bytes": 9000000000}, {"rel_path": "b"},
  {"kind": "image"}, "garbage", {"rel_path": "c", "size_bytes": -4}]}');
select results_eq($$
  select rel_path, kind, size_bytes, host, run_id, node_id from qwf.run_files order by rel_path
$$, $$
  values ('a.png', 'image', 9000000000, 'box', null::bigint, null::text),
    ('b', 'file', 0, 'box', null, null),
    ('c', 'file', 0, 'box', null, null)
$$, 'with the host that has them; an invalid entry is skipped');
