// The examples: what each shows, and the SQL that starts it.
const json = (value) => `'${JSON.stringify(value).replaceAll("'", "''")}'`;
const from = (path) => ({ $from: path });

const pipeline = (name, nodes, outputs) =>
  `select qwf.register_pipeline(${json({ name, nodes, ...(outputs && { outputs }) })});\n`;
const workflow = (name, steps) => `select qwf.register_workflow(${json({ name, steps })});\n`;

const retry = { max_losses: 20 }; // else the third crash at one job ends it, and the tour with it
const LOOK = pipeline('look', [
  { id: 'fetch', retry, inputs: { photo: from('pipeline.photo') } },
  { id: 'detect', retry, depends_on: ['fetch'], inputs: { photo: from('fetch.file') } },
  { id: 'thumbnail', retry, depends_on: ['fetch'], inputs: { photo: from('fetch.file') } }]);
const MAKE = pipeline('make', [
  { id: 'cut_out', retry, inputs: { object: from('pipeline.object') } },
  { id: 'publish', retry, depends_on: ['cut_out'], inputs: { picture: from('cut_out.file') } }]);
const PHOTO = workflow('photo', [
  { id: 'look', kind: 'pipeline', pipeline: 'look', inputs: { photo: from('photo') } },
  { id: 'choose', kind: 'input', widget: 'choose_one', target: 'object', depends_on: ['look'],
    prompt: 'Which object do you want to cut out?', source: from('look.objects') },
  { id: 'make', kind: 'pipeline', pipeline: 'make', depends_on: ['choose'],
    inputs: { object: from('choose.object') } }]);

const ALBUM = pipeline('album', [
  { id: 'list' },
  { id: 'score', depends_on: ['list'], map: from('list.photos'), inputs: { photo: from('item') },
    min_success: 8, retry: { max_attempts: 1 } },
  { id: 'best', depends_on: ['score'], inputs: { scores: from('score') } }])
  + workflow('album', [{ id: 'album', kind: 'pipeline', pipeline: 'album' }]);

export const PRESETS = [
  { id: 'photo', label: 'Photo with a question', words: 'start a run of five nodes and a question',
    help: 'A workflow: fetch a photo, look at it in two ways at once, ask you, cut out, publish.',
    sql: `${LOOK}${MAKE}${PHOTO}select qwf.enqueue_run('photo', context => '{"photo": "street.jpg"}');` },
  { id: 'map', label: 'Map of ten', words: 'start a run with a list of ten photos',
    help: 'One node runs once for each of ten photos. Two of them are broken; 8 successes suffice.',
    sql: `${ALBUM}select qwf.enqueue_run('album');` },
  { id: 'poison', label: 'Poison job', words: 'enqueue a job that kills whoever runs it',
    help: 'A job that kills each worker that takes it. After the third loss it fails for good.',
    sql: "select qwf.enqueue('big_video', queue => 'cpu');" },
  { id: 'schedule', label: 'Every 5 seconds', words: 'create a schedule',
    help: 'A schedule enqueues a small job every 5 seconds, until you drop it.',
    sql: "select qwf.create_schedule('ping', task => 'ping', queue => 'cpu', every => '5 s');" },
  { id: 'limit', label: 'Limit of two', words: 'enqueue six jobs; at most two may run at once',
    help: 'Six jobs that share a model. Three workers are free, but only two may use it at once.',
    sql: "select qwf.create_limit('model', 2);\nselect qwf.enqueue_many((\n  select jsonb_agg("
      + "jsonb_build_object('task', 'describe', 'queue', 'cpu', 'limit_by', 'model'))\n"
      + '  from generate_series(1, 6)));' },
];
