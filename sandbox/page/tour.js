// Seven steps. A step is done when the log has a line of its kind; then the reader goes on.
import { byId, make } from './dom.js';

const STEPS = [
  { title: 'Crash a worker', kind: 'crashed', start: 'photo',
    todo: 'Start the photo run. Then press Crash on the worker that has a job.',
    done: 'The worker is dead. It told nobody: no report, no goodbye. The job still counts as its own.' },
  { title: 'Watch the lease lapse', kind: 'reclaimed',
    todo: 'The dead worker had a lease on the job: a time for which the job is its own. A living worker renews it. Watch the '
      + 'bar “Lease” on its card run down.',
    done: 'The lease was over, so the database took the job back and counted one loss. Another worker gets it, with a new '
      + 'token. Nobody had to notice the crash.' },
  { title: 'Make a zombie', kind: 'overtaken', start: 'photo',
    todo: 'Not every silent worker is dead. Press Zombie on a worker that has a job: it is cut off, but works on. Wait until '
      + 'its lease is over. (No job left? Start the photo run again.)',
    done: 'Now two workers believe that the job is theirs. The zombie has the old token, the other one has the new token.' },
  { title: 'Wake the zombie', kind: 'refused',
    todo: 'Press Wake up. The zombie has finished its work and reports it, with its old token.',
    done: 'The answer was “lost”, and nothing changed. This is the fence: only the newest token counts. So a job may run '
      + 'twice, but its result counts once. Try to cheat does the same with any old token.' },
  { title: 'Answer a question', kind: 'answered', start: 'photo',
    todo: 'The photo run comes to a question for you. Meanwhile no worker is busy with it, and it may wait for days. Answer it.',
    done: 'Your answer is an input of the next nodes. Answer and next job were written in one transaction.' },
  { title: 'Retry from a node', kind: 'retried',
    todo: 'Wait until the photo run is completed. Then choose the node cut_out in the graph, and press Retry the run from here.',
    done: 'That node and all nodes after it run again. The nodes before it keep their results.' },
  { title: 'Read why a job waits', kind: 'explained', start: 'limit',
    todo: 'Start the limit of two: six jobs, and at most two of them may run at once. Press Why? beside a queued job.',
    done: 'The database names each reason why the job does not run yet. On a real server you type: qwf why 12.' },
];

export function showTour(engine, start) {
  const panel = byId('tour');
  let at = 0;
  let done = false;
  const since = new Set(); // kinds of lines since the last step was done: a lease does not wait
  engine.addEventListener('said', ({ detail: { kind } }) => {
    since.add(kind);
    if (done || kind !== STEPS[at]?.kind) return;
    finish();
    show();
  });
  const finish = () => {
    done = true;
    since.clear();
  };
  const go = (to) => {
    at = to;
    done = false;
    if (since.has(STEPS[at]?.kind)) finish();
    show();
    panel.querySelector('button')?.focus();
  };
  const button = (text, act, more = {}) => make('button', { type: 'button', onclick: act, ...more }, text);

  function show() {
    const step = STEPS[at];
    document.body.dataset.step = step && !done ? step.kind : '';
    panel.dataset.state = !step ? 'over' : done ? 'done' : 'todo';
    panel.dataset.step = at + 1;
    panel.replaceChildren(...(step ? lines(step) : over()));
  }

  function lines(step) {
    const last = at === STEPS.length - 1;
    const buttons = done
      ? [button(last ? 'End the tour' : 'Next step', () => go(at + 1), { class: 'primary next' })]
      : [...(step.start ? [button(`Start: ${labels[step.start]}`, () => start(step.start),
        { class: 'primary start' })] : []), button('Skip this step', () => go(at + 1), { class: 'skip-step' })];
    return [progress(), make('h2', {}, `${at + 1} of ${STEPS.length}: ${step.title}`),
      make('p', { 'aria-live': 'polite' }, done ? `✓ ${step.done}` : step.todo),
      make('p', { class: 'buttons' }, ...buttons)];
  }

  function progress() {
    const share = `Step ${at + 1} of ${STEPS.length}`;
    return make('meter', { class: 'done', min: 0, max: STEPS.length, value: at + (done ? 1 : 0),
      'aria-label': share });
  }

  function over() {
    return [make('h2', {}, 'That was the tour'), make('p', {},
      'You have seen a crash, a lease, a fence, a question, a retry and a reason. Now break what you like: ',
      'the lamp above turns red if a rule of the database is ever broken.'),
    make('p', { class: 'buttons' }, button('Take it again', () => go(0)))];
  }
  show();
}

const labels = { photo: 'photo with a question', limit: 'limit of two' };
