import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { statePath } from '../../machines/parts/states.ts';
import type { ActivityContext, AnyActivity } from '../../src/activities/activity.ts';
import { portOf } from '../../src/commands/run/run-port.ts';
import { showRunPlainly } from '../../src/plain/show-run-plainly.ts';
import { answerToTheChange, makeWorld, obedient, reaches } from '../runner/world.ts';

const DETAIL = 'the last 3 finished backups took 2 min to 4 min, median 3 min';

/** A run that waits for its backup, and the hand that tells how the waiting goes. */
async function waiting() {
  const begun = Promise.withResolvers<ActivityContext>();
  const waitForBackup: AnyActivity = {
    kind: 'read',
    run: (_: never, context: ActivityContext) => {
      begun.resolve(context);
      return new Promise(() => undefined);
    },
  };
  const world = await makeWorld(obedient({ waitForBackup }));
  const run = await world.takeUp();
  await answerToTheChange(run);
  await reaches(run, 'backup.waiting');
  const { report } = await begun.promise;
  const late = (status: string, limitSeconds = 540) =>
    report({
      kind: 'task',
      status,
      what: 'backup 4',
      overdue: { seconds: 600, overSeconds: 60, limitSeconds, basis: 'history', detail: DETAIL },
    });
  return { world, run, late, onTime: () => report({ kind: 'task', status: 'running', what: 'backup 4' }) };
}

function portOn({ world, run }: Pick<Awaited<ReturnType<typeof waiting>>, 'world' | 'run'>) {
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  return portOf(run, world.journal.log, runbook, new Map(), () => '');
}

test('a wait within its limit is calm: no banner, no question', async () => {
  const { world, run, onTime } = await waiting();
  onTime();
  const view = portOn({ world, run }).view();
  expect(view.banner).toBeUndefined();
  expect(view.question).toBeUndefined();
  await run.detach();
});

test('a wait over its limit says since when, what is usual, what is safe, and what you can do in the meantime', async () => {
  const { world, run, late } = await waiting();
  late('running');
  const view = portOn({ world, run }).view();
  expect(view.banner).toMatchObject({
    tone: 'warn',
    text: `waiting for the backup of the instance for more than 9 min: ${DETAIL}`,
    hints: [expect.stringContaining('waiting is safe'), expect.stringContaining('dashboard')],
  });
  expect(view.question).toMatchObject({ kind: 'choice', beside: true });
  expect(view.question?.options.map(({ event }) => event)).toEqual(['operator.lookAgain', 'operator.giveUp']);
  expect(view.activity).toMatchObject({ overdue: true, progress: { kind: 'task', status: 'running' } });
  late('queued', 1_080);
  expect(portOn({ world, run }).view().banner?.text).toContain(
    'waiting for the backup of the instance, queued for more than 18 min',
  );
  await run.detach();
});

test('without a person, the line is printed once, no question is asked, and the wait continues', async () => {
  const { world, run, late } = await waiting();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let printed = '';
  stderr.on('data', (chunk) => (printed += chunk));
  const shown = showRunPlainly(portOn({ world, run }), { stdin, stdout, stderr, env: {} });
  late('running');
  late('running');
  await expect.poll(() => printed).toContain('waiting is safe');
  await expect.poll(() => printed).toContain('already 10 min to wait for backup 4');
  expect(printed.split('waiting for the backup of the instance for more than 9 min')).toHaveLength(2);
  expect(printed).not.toContain('question:');
  expect(statePath(run.state().snapshot)).toBe('backup.waiting');
  await run.detach();
  await shown;
});
