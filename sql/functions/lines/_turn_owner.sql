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
  select (hashtextextended(row(p_queue, p_light_only, p_worker.project, p_worker.tasks,
      p_worker.models, p_worker.vram_mb, p_worker.labels - 'host')::text, 0) & 2147483647) << 32
    | (date_part('epoch', p_now) / 60)::bigint
$$;

commit;
