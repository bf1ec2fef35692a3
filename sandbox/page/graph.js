// The chosen run as a graph: a box for each node, from qwf.run_graph().
import { byId, draw, make, say } from './dom.js';

const WIDTH = 122;
const HEIGHT = 46;
const ALONG = 20; // between two columns
const ACROSS = 14; // between two boxes of a column
const EDGE = 6;

export function showRun(engine, choose) {
  const room = byId('graph');
  const picker = byId('runs');
  let newest = 0;
  let drawn = null; // {key, boxes, edges}

  picker.addEventListener('change', refresh);
  engine.addEventListener('state', refresh);
  addEventListener('resize', () => { drawn = null; });

  async function refresh() {
    const { runs } = engine.state;
    byId('runs-label').hidden = runs.length === 0;
    if (runs.length === 0) return;
    list(runs);
    const id = Number(picker.value);
    let graph;
    try {
      [{ graph }] = await engine.db.rows(`select qwf.run_graph(${id}) as graph`);
    } catch {
      return; // the run is gone; the next list does not have it
    }
    if (graph.run_id !== Number(picker.value)) return; // an answer about the run before
    const down = room.clientWidth < 560;
    const key = `${graph.graph_id} ${graph.run_id} ${down}`;
    if (drawn?.key !== key) drawn = { key, ...redraw(room, graph, down, choose) };
    paint(drawn, graph);
  }

  function list(runs) {
    const latest = runs[0].id;
    const wanted = latest > newest ? latest : Number(picker.value);
    newest = latest;
    const options = runs.map(({ id, workflow, status }) => [id, `${id} ${workflow}: ${status}`]);
    const text = JSON.stringify(options);
    if (picker.dataset.shown !== text) {
      picker.replaceChildren(...options.map(([value, label]) => make('option', { value }, label)));
      picker.dataset.shown = text;
      picker.value = options.some(([value]) => value === wanted) ? wanted : latest;
    }
  }
}

// Nodes in columns: each one column after the last of those that it waits for.
function columns({ nodes, edges }) {
  const depth = new Map(nodes.map(({ idx }) => [idx, 0]));
  for (let round = 0; round < nodes.length; round += 1)
    for (const [from, to] of edges) depth.set(to, Math.max(depth.get(to), depth.get(from) + 1));
  const found = [];
  for (const node of nodes) (found[depth.get(node.idx)] ??= []).push(node);
  return found;
}

function places(graph, down) {
  const found = columns(graph);
  const most = Math.max(...found.map((column) => column.length));
  const [along, across] = down ? [HEIGHT + ALONG, WIDTH + ACROSS] : [WIDTH + ALONG, HEIGHT + ACROSS];
  const place = new Map();
  found.forEach((column, depth) => column.forEach((node, row) => {
    const side = EDGE + (row + (most - column.length) / 2) * across;
    place.set(node.idx, down ? [side, EDGE + depth * along] : [EDGE + depth * along, side]);
  }));
  const length = found.length * along - ALONG + 2 * EDGE;
  const breadth = most * across - ACROSS + 2 * EDGE;
  return { place, size: down ? [breadth, length] : [length, breadth] };
}

function redraw(room, graph, down, choose) {
  const { place, size: [width, height] } = places(graph, down);
  const scene = draw('svg', { viewBox: `0 0 ${width} ${height}`, class: 'scene', role: 'group',
    'aria-label': `run ${graph.run_id}` });
  scene.style.maxWidth = `${width}px`;
  const edges = graph.edges.map(([from, to]) => {
    const edge = draw('g', { class: 'edge' }, arrow(place.get(from), place.get(to), down));
    scene.append(edge);
    return { edge, from };
  });
  const boxes = new Map(graph.nodes.map((node) => [node.idx, box(node, place.get(node.idx), choose)]));
  for (const { link } of boxes.values()) scene.append(link);
  room.replaceChildren(scene);
  return { boxes, edges };
}

function arrow([x, y], [toX, toY], down) {
  const start = down ? [x + WIDTH / 2, y + HEIGHT] : [x + WIDTH, y + HEIGHT / 2];
  const end = down ? [toX + WIDTH / 2, toY] : [toX, toY + HEIGHT / 2];
  const bend = down ? [[start[0], start[1] + ALONG / 2], [end[0], end[1] - ALONG / 2]]
    : [[start[0] + ALONG / 2, start[1]], [end[0] - ALONG / 2, end[1]]];
  return draw('path', { class: 'line', d: `M${start} C${bend[0]} ${bend[1]} ${end}` });
}

function box(node, [x, y], choose) {
  const link = draw('a', { transform: `translate(${x} ${y})`, tabindex: 0, role: 'button' });
  const line = draw('text', { class: 'line', x: 10, y: 35 });
  const name = node.id.split('/').at(-1);
  const title = draw('title');
  link.append(title, draw('rect', { class: 'face', width: WIDTH, height: HEIGHT, rx: 8 }),
    Object.assign(draw('text', { class: 'label', x: 10, y: 19 }), { textContent: name }), line);
  const act = () => choose(link.dataset.job);
  link.addEventListener('click', act);
  link.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act();
  });
  return { link, title, line, name };
}

function paint({ boxes, edges }, { nodes }) {
  for (const node of nodes) {
    const { link, title, line, name } = boxes.get(node.idx);
    const words = detail(node);
    link.setAttribute('class', `box ${node.status}`);
    say(title, `${name} ${words}`); // its name for those who do not see it
    link.dataset.job = node.job_id;
    say(line, words);
  }
  const done = new Set(nodes.filter(({ status }) => ['completed', 'skipped'].includes(status))
    .map(({ idx }) => idx));
  for (const { edge, from } of edges) edge.classList.toggle('passed', done.has(from));
}

function detail({ status, elements, worker, asks }) {
  if (elements) {
    const all = Object.values(elements).reduce((sum, number) => sum + number, 0);
    const failed = elements.failed ? `, ${elements.failed} failed` : '';
    if (all) return `${elements.completed ?? 0} of ${all}${failed}`;
  }
  if (status === 'awaiting_input') return '? waits for you';
  if (status === 'running') return `▶ ${worker.split(':')[0]}`;
  if (status === 'blocked') return asks ? 'asks later' : 'waits its turn';
  return { completed: '✓ completed', failed: '✗ failed' }[status] ?? status;
}
