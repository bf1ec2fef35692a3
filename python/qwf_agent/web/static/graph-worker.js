// Lays out a graph with dagre, away from the page's own thread.
"use strict";
importScripts(new URL("vendor/dagre.min.js" + self.location.search, self.location.href).href);

const GAP = 10; // between the boxes of a block, px
const INSET = 12; // between the outline of a block and its boxes
const FEW = 60; // boxes that are laid out in both directions, to take the better one

self.onmessage = ({ data: { structure, room } }) => {
  const wide = room.width >= room.height;
  const directions = wide ? ["LR", "TB"] : ["TB", "LR"];
  if (structure.boxes.length > FEW) directions.pop();
  const scale = (found) => Math.min(1, room.width / found.width, room.height / found.height);
  let best = null;
  for (const direction of directions) {
    const found = layout(structure, direction, room);
    if (!best || scale(found) > 1.15 * scale(best)) best = found;
  }
  self.postMessage(best);
};

// Returns {width, height, boxes: {id: [x, y]}, frames and blocks: {id: [x, y, width, height]},
// edges: [[{x, y}, ...], ...]}; x and y are the upper left corner.
function layout(structure, direction, room) {
  const graph = new dagre.graphlib.Graph({ compound: true });
  const options = { nodesep: 16, ranksep: 44, edgesep: 12, marginx: 14, marginy: 24 };
  graph.setGraph({ rankdir: direction, ...options });
  graph.setDefaultEdgeLabel(() => ({}));
  const gridOf = (block) => [block.id, grid(structure, block, room)];
  const inside = new Map(structure.blocks.map(gridOf));
  const inBlock = new Set(structure.blocks.flatMap((block) => block.boxes));
  const frames = new Map(structure.frames.map((frame) => [frame.step, "frame " + frame.id]));
  for (const frame of frames.values()) graph.setNode(frame, {});
  const add = ({ id, frame }, { width, height }) => {
    graph.setNode(id, { width, height });
    if (frames.has(frame)) graph.setParent(id, frames.get(frame));
  };
  for (const box of structure.boxes) if (!inBlock.has(box.id)) add(box, box);
  for (const block of structure.blocks) add(block, inside.get(block.id));
  for (const [from, to] of structure.edges) graph.setEdge(from, to);
  dagre.layout(graph);

  const corner = (id) => {
    const { x, y, width, height } = graph.node(id);
    return [x - width / 2, y - height / 2, width, height];
  };
  const found = { boxes: {}, frames: {}, blocks: {} };
  for (const box of structure.boxes) if (!inBlock.has(box.id)) found.boxes[box.id] = corner(box.id);
  for (const block of structure.blocks) {
    const [x, y] = (found.blocks[block.id] = corner(block.id));
    for (const [id, left, top] of inside.get(block.id).boxes) found.boxes[id] = [x + left, y + top];
  }
  for (const frame of structure.frames) found.frames[frame.id] = corner("frame " + frame.id);
  found.edges = structure.edges.map(([from, to]) => graph.edge(from, to).points);
  const { width, height } = graph.graph(); // of nothing: -Infinity
  found.width = Math.max(1, width);
  found.height = Math.max(1, height);
  return found;
}

// The boxes of a block in rows, in a shape like the room: [[id, x, y], ...] and the size.
function grid(structure, block, room) {
  const boxes = structure.boxes.filter((box) => block.boxes.includes(box.id));
  const width = Math.max(...boxes.map((box) => box.width)) + GAP;
  const height = Math.max(...boxes.map((box) => box.height)) + GAP;
  const shape = Math.min(1.8, Math.max(0.3, (0.6 * room.width) / room.height));
  const columns = Math.max(1, Math.round(Math.sqrt((boxes.length * height * shape) / width)));
  const rows = Math.ceil(boxes.length / columns);
  return {
    boxes: boxes.map((box, place) => [
      box.id,
      INSET + (place % columns) * width,
      INSET + Math.floor(place / columns) * height,
    ]),
    width: columns * width - GAP + 2 * INSET,
    height: rows * height - GAP + 2 * INSET,
  };
}
