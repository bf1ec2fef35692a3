-- Deploy qwf:functions/lines/_turn_owner
-- Purpose: Returns who shares the turns of a line, and the minute: 31 bits of a hash, then 32 bits.
-- Guarantees: The sessions share them by queue and by what their workers can run. What fits one of
--   them fits the others, so none leads the others past keys that are theirs; but for jobs that
--   require a host: see _store_turn. One expression without a pinned search_path, which would cost
--   a claim more than all this.
-- Called by: _pick_keyed.

begin;

create function _qwf.turn_owner(
  p_queue text, p_worker qwf.workers, p_light_only boolean, p_now timestamptz)
returns bigint
language sql stable
as $$
  select ((hashtextextended(p_queue, case when p_light_only then 1 else 0 end)
      # coalesce(hashtextextended(p_worker.project, 2), 2)
      # coalesce(hash_array_extended(p_worker.tasks, 3), 3)
      # coalesce(hash_array_extended(p_worker.models, 4), 4)
      # coalesce(hashint4extended(p_worker.vram_mb, 5), 5)
      # coalesce(jsonb_hash_extended(p_worker.labels - 'host', 6), 6)) & 2147483647) << 32
    | (date_part('epoch', p_now) / 60)::bigint
$$;

commit;
