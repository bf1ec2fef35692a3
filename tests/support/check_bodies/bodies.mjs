  'check.echo': async (inputs) => inputs,
  'check.sleep': async ({ seconds, beat }, { signal, log }) => {
    const { appendFile } = await import('node:fs/promises');
    const end = Date.now() + seconds * 1000;
    for (let line = 1; Date.now() < end; line += 1) {
      log(`line ${line}`);
      if (beat) await appendFile(beat, '.');
      await pause(100, undefined, { signal });
    }
    return { slept: true };
  },
  'check.stubborn': async ({ seconds }) => {
    await pause(seconds * 1000);
    return {};
  },
  'check.progress': async ({ seconds }, { progress }) => {
    await progress(0.5, 'half');
    await pause(seconds * 1000);
    return {};
  },
  'check.checkpoint': async (_, { job, save }) => {
    if (job.checkpoint) return { found: job.checkpoint };
    await save({ step: 1 });
    await save({ step: 2 });
    throw new Error('killed');
  },
  'check.fail': async ({ kind, message }) => {
    throw new { error: Error, tempfail: TemporaryError, fatal: PermanentError }[kind](message);
  },
  'check.output': async ({ kind, bytes }) => (
    { null: { text: 'a\0b' }, list: [1, 2], large: { text: 'x'.repeat(bytes ?? 0) } }[kind]),
