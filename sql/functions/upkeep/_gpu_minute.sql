-- Deploy qwf:functions/upkeep/_gpu_minute
-- Purpose: Returns the average and the highest load of each card of a host in one minute.
-- Guarantees: Never raises: agents send what they like as a card. Takes 64 cards at most, the first
--   of a sample first, and leaves out numbers that no card has.
-- Called by: _record_hosts.

begin;

create function _qwf.gpu_minute(p_host text, p_minute timestamptz) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(c) - 'place' order by c.place, c.id), '[]')
    from (
      select u.id, min(u.place) as place,
        round(avg(u.use), 1) as use_pct, max(u.use) as use_pct_max,
        round(avg(u.vram_used)) as vram_used_mb, max(u.vram_used) as vram_used_mb_max,
        max(u.vram_total) as vram_total_mb
      from (
        select g.place, coalesce(
            to_jsonb(_qwf.as_number(g.card -> 'id')::bigint),
            to_jsonb(left(g.card ->> 'id', 100)), 'null') as id,
          round(_qwf.as_number(g.card -> 'use_pct', 1000), 1) as use,
          _qwf.as_number(g.card -> 'vram_used_mb', 16777216)::int as vram_used,
          _qwf.as_number(g.card -> 'vram_total_mb', 16777216)::int as vram_total
        from qwf.host_metrics m
        cross join lateral jsonb_array_elements(m.gpus) with ordinality g (card, place)
        where m.host = p_host and m.sampled_at >= p_minute
          and m.sampled_at < p_minute + interval '1 min'
          and jsonb_typeof(g.card) = 'object' and g.place <= 64
      ) u
      group by u.id
      order by place, u.id
      limit 64
    ) c);
end $$;

commit;
