// What the bodies of the examples pretend to do. Real ones are Python functions or programs.

const LONG = { ping: 0.25, score: 0.5, list: 0.5 }; // in units of the usual time; else 1

export const KILLS = new Set(['big_video']); // tasks that kill the process they run in

export const bodyOf = (task) => LONG[task] ?? 1;

// Why a job fails, or null.
export const FAILS = ({ task, inputs }) => (
  task === 'score' && String(inputs.photo).startsWith('broken') ? 'the picture is broken' : null);

const photos = Array.from({ length: 10 }, (_, n) => (n % 4 === 3 ? 'broken' : 'photo') + `-${n}.jpg`);

const OUTPUTS = {
  fetch: ({ photo }) => ({ file: photo }),
  detect: () => ({ objects: ['the bicycle', 'the dog', 'the lamp'] }),
  cut_out: ({ object }) => ({ file: `${object}.png` }),
  list: () => ({ photos }),
  score: () => ({ points: 1 + Math.floor(Math.random() * 9) }),
};

export const outputOf = ({ task, inputs }) => OUTPUTS[task]?.(inputs) ?? {};
