import { expect, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import type { Run } from '../../src/runner/run.ts';
import type { Entry } from '../../src/store/journal.ts';
import { buildRunView } from '../../src/view/build-run-view.ts';
import { proseByState } from '../../src/view/prose.ts';
import { answerToTheChange, makeWorld, obedient, reaches } from '../runner/world.ts';

const NOW = new Date();

function viewOf(run: Run) {
  const runbook = runbooks['rotate-key'];
  if (runbook === undefined) throw new Error('the runbook is gone');
  return buildRunView({ ...run.state(), runbook, prose: new Map(), now: NOW });
}

/** The run with more on its record. */
function withEntries(run: Run, ...more: readonly (readonly [string, Entry['body']])[]): Run {
  const { entries } = run.state();
  const [first] = entries;
  if (first === undefined) throw new Error('nothing is on record');
  const added = more.map(([type, body]): Entry => ({ ...first, type, body }));
  return { ...run, state: () => ({ ...run.state(), entries: [...entries, ...added] }) };
}

test('the rail shows what is done, where the run stands and what lies ahead', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  await run.answer({ event: 'operator.skip', text: 'proven yesterday' });
  const { rail } = viewOf(run);
  expect(rail.slice(0, 4)).toEqual([
    { id: 'preflight', title: 'look at the instance', state: 'done' },
    { id: 'oldBackup', title: 'prove the old backup', state: 'skipped', note: 'proven yesterday' },
    { id: 'key', title: 'choose the new key', state: 'current' },
    { id: 'confirm', title: 'confirm by name', state: 'ahead' },
  ]);
  await run.detach();
});

test('a run that ended proven has every step done and its outcome in green', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await answerToTheChange(run);
  await run.ended;
  const view = viewOf(run);
  expect(view.rail.every(({ state }) => state === 'done')).toBe(true);
  expect(view.outcome).toMatchObject({ tone: 'good', title: 'the key is rotated and proven' });
  expect(view.question).toBeUndefined();
});

test('a broken glass comes before everything else of the outcome, and nothing is green then', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await answerToTheChange(run);
  await run.ended;
  const glass = { challenge: 'c2', order: 'set key 77aa on orders', reason: 'Ada is \u001b[31masleep' };
  const view = viewOf(withEntries(run, ['approval.bypassed', glass]));
  expect(view.outcome?.tone).toBe('warn');
  expect(view.outcome?.lines[0]).toMatch(
    /^BREAK-GLASS, without a second person: Ada is .*asleep \(to set key 77aa on orders\)$/u,
  );
  expect(view.outcome?.lines[0]).not.toContain('\u001b');
  const weakened = { reason: 'the approvers are lost', changes: [] };
  expect(viewOf(withEntries(run, ['approval.weakened', weakened])).outcome).toMatchObject({
    tone: 'warn',
    lines: expect.arrayContaining([
      'BREAK-GLASS, with less approval than when the run began: the approvers are lost',
    ]),
  });
});

test('the outcome names who approved, and nobody whose approval expired or was taken back', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await answerToTheChange(run);
  await run.ended;
  const asked = (challenge: string, order = 'set the key') =>
    ['approval.asked', { challenge, order }] as const;
  const given = (challenge: string, approver: string) => ['approval.given', { challenge, approver }] as const;
  const withdrawn = ['approval.withdrawn', { challenge: 'c3' }] as const;
  const view = viewOf(
    withEntries(
      run,
      ...[asked('c1'), given('c1', 'too-early'), asked('c2'), given('c2', 'ada@example.com')],
      ...[asked('c3', 'restore'), given('c3', 'regretful'), withdrawn],
    ),
  );
  expect(view.outcome).toMatchObject({ tone: 'good' });
  const approvedBy = view.outcome?.lines.filter((line) => line.startsWith('approved by'));
  expect(approvedBy).toEqual(['approved by ada@example.com']);
});

test('a run that was stopped shows the step it was stopped at, and is not green', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  await run.answer({ event: 'operator.stop' });
  expect(await run.ended).toMatchObject({ exitCode: 1 });
  const view = viewOf(run);
  expect(view.rail.map(({ state }) => state).slice(0, 3)).toEqual(['done', 'failed', 'ahead']);
  expect(view.outcome).toMatchObject({ tone: 'warn', title: 'stopped before the key was changed' });
});

test('a failure is a banner with its hints, and the step is marked', async () => {
  const world = await makeWorld(
    obedient({
      preflight: {
        kind: 'read',
        run: async () => {
          throw new LifeboatError('service.unreachable', 'no way there', { hints: ['is the VPN up?'] });
        },
      },
    }),
  );
  const run = await world.takeUp();
  await reaches(run, 'preflight.lookingFailed');
  const view = viewOf(run);
  expect(view.banner).toEqual({ tone: 'bad', text: 'no way there', hints: ['is the VPN up?'] });
  expect(view.rail[0]?.state).toBe('failed');
  await run.detach();
});

test('no text of the service can act on a terminal', async () => {
  const hostile = '\u001b]52;c;aGk=\u0007\u009b31m\u202e\u001b[2J';
  const world = await makeWorld(
    obedient({
      preflight: {
        kind: 'read',
        run: async () => ({
          ok: false,
          failure: { code: 'service.error', shortMessage: hostile, hints: [hostile], evidence: {} },
        }),
      },
    }),
  );
  const run = await world.takeUp();
  await reaches(run, 'preflight.lookingFailed');
  expect(
    Object.values(viewOf(run))
      .map((part) => JSON.stringify(part))
      .join(''),
  ).not.toMatch(/\\u00(?:1b|07)|\p{Cc}|\p{Cf}/u);
  await run.detach();
});

test('prose belongs to the states that its section names', () => {
  const sections = proseByState(
    '# Title\n\n## Store it\n<!-- state: storing, readingBack -->\n\nText.\n\n## Appendix\n\nNo state.\n',
  );
  expect([...sections.keys()]).toEqual(['storing', 'readingBack']);
  expect(sections.get('storing')).toEqual({ title: 'Store it', markdown: 'Text.' });
});
