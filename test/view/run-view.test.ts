import { expect, test } from 'vitest';
import { getInitialSnapshot } from 'xstate';
import { runbooks, singleChange } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { LifeboatError } from '../../src/base/errors.ts';
import type { Run } from '../../src/runner/run.ts';
import type { Entry } from '../../src/store/journal.ts';
import { buildRunView } from '../../src/view/build-run-view.ts';
import { proseByState } from '../../src/view/prose.ts';
import { INPUTS } from '../machines/inputs.ts';
import { answerToTheChange, makeWorld, obedient, reaches, rotated } from '../runner/world.ts';

const NOW = new Date();

const rotateKey = runbooks['rotate-key'] as Runbook;

function viewOf(run: Run) {
  return buildRunView({ ...run.state(), runbook: rotateKey, prose: new Map(), now: NOW });
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
  expect(rail.map(({ seconds }) => seconds !== undefined).slice(0, 4)).toEqual([true, true, true, false]);
  expect(rail.slice(0, 4).map(({ seconds: _, ...step }) => step)).toEqual([
    { id: 'preflight', title: 'look at the instance', state: 'done' },
    { id: 'oldBackup', title: 'prove the old backup', state: 'skipped', note: 'proven yesterday' },
    { id: 'key', title: 'choose the new key', state: 'current' },
    { id: 'confirm', title: 'confirm by name', state: 'ahead' },
  ]);
  await run.detach();
});

test('what is done before the first step is in the log of no step, and not in that of a later one', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  const { log } = viewOf(run);
  const steps = log.filter(({ text }) => text.includes('looked at the instance')).map(({ step }) => step);
  expect([log[0]?.step, ...steps]).toEqual([undefined, undefined]);
  expect(log.map(({ step }) => step)).not.toContain('key');
  await run.detach();
});

test('a run that ended proven has every step done and its outcome in green', async () => {
  const { run } = await rotated();
  const view = viewOf(run);
  expect(view.rail.every(({ state }) => state === 'done')).toBe(true);
  expect(view.outcome).toMatchObject({ tone: 'good', title: 'the key is rotated and proven' });
  expect(view.question).toBeUndefined();
});

test('break-glass comes first in the outcome, and nothing is green then', async () => {
  const { run } = await rotated();
  const glass = { challenge: 'c2', order: 'set key 77aa on orders', reason: 'Ada is \u001b[31masleep' };
  const view = viewOf(withEntries(run, ['approval.bypassed', glass]));
  expect(view.outcome?.tone).toBe('warn');
  expect(view.outcome?.remarks[0]?.text).toMatch(
    /^BREAK-GLASS, without a second person: Ada is .*asleep \(to set key 77aa on orders\)$/u,
  );
  expect(view.outcome?.remarks[0]?.text).not.toContain('\u001b');
  const weakened = { reason: 'the approvers are lost', changes: [] };
  expect(viewOf(withEntries(run, ['approval.weakened', weakened])).outcome).toMatchObject({
    tone: 'warn',
    verdict: 'proven, with deviations',
    remarks: [
      {
        tone: 'bad',
        text: 'BREAK-GLASS, with less approval than when the run began: the approvers are lost',
      },
    ],
  });
});

test('the outcome names who approved, and no one whose approval expired or was withdrawn', async () => {
  const { run } = await rotated();
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
  expect(view.outcome?.remarks.map(({ text }) => text)).toEqual(['approved by ada@example.com']);
});

test('a run that was stopped shows the step where it was stopped, and is not green', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  await run.answer({ event: 'operator.stop', text: 'the wrong instance' });
  expect(await run.ended).toMatchObject({ exitCode: 1 });
  const view = viewOf(run);
  expect(view.rail.map(({ state }) => state).slice(0, 3)).toEqual(['done', 'failed', 'ahead']);
  expect(view.outcome).toMatchObject({ tone: 'warn', title: 'stopped before the key was changed' });
});

test('a failure is shown as a banner with its hints, and the step is marked', async () => {
  const world = await makeWorld(
    obedient({
      preflight: {
        kind: 'read',
        run: async () => {
          const hints = ['is the VPN up?', 'try again in a moment'];
          throw new LifeboatError('service.unreachable', 'no way there', { hints });
        },
      },
    }),
  );
  const run = await world.takeUp();
  await reaches(run, 'preflight.lookingFailed');
  const view = viewOf(run);
  // An instance that may be lost does not come back by waiting: what leads on is in the question.
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

test('prose is shown for the states that its section names', () => {
  const sections = proseByState(
    '# Title\n\n## Store it\n<!-- state: storing, readingBack -->\n\nText.\n\n## Appendix\n\nNo state.\n',
  );
  expect([...sections.keys()]).toEqual(['storing', 'readingBack']);
  expect(sections.get('storing')).toEqual({ title: 'Store it', markdown: 'Text.' });
});

test('the current step shows how long earlier runs took for it, and the rail what is to come', async () => {
  const world = await makeWorld(
    obedient({ waitForBackup: { kind: 'read', run: () => new Promise(() => undefined) } }),
  );
  const run = await world.takeUp();
  await answerToTheChange(run);
  await reaches(run, 'backup.waiting');
  const times = [
    ['backup', 600],
    ['negative', 1],
    ['record', 90],
  ] as const;
  const usual = {
    steps: new Map(times),
    longest: new Map(times),
    wholeSeconds: 1200,
    longestWhole: 1500,
    runs: 3,
  };
  const activity = { since: new Date().toISOString(), progress: undefined };
  const view = (usually?: typeof usual, now = new Date()) =>
    buildRunView({ ...run.state(), activity, runbook: rotateKey, prose: new Map(), usual: usually, now });
  expect(view(usual).activity?.expected).toMatch(/^usually 10 min; expected \d\d:\d\d UTC$/u);
  expect(view(usual, new Date(Date.now() + 3_600_000)).activity?.expected).toBe('longer than usual (10 min)');
  expect(view(usual).activity?.runExpected).toMatch(
    /^usually 20 min; expected to end \d\d:\d\d UTC, without the waits for you$/u,
  );
  const { rail } = view(usual);
  expect(rail.flatMap(({ id, usual: seconds }) => (seconds === undefined ? [] : [[id, seconds]]))).toEqual([
    ['backup', 600],
    ['record', 90],
  ]);
  expect(view().activity).not.toHaveProperty('expected');
  expect(view().activity).not.toHaveProperty('runExpected');
  expect(view().rail.every((step) => step.usual === undefined)).toBe(true);
  await run.detach();
});

test('a call without an answer is shown with its host, since when, and until when it is waited for', async () => {
  const world = await makeWorld(
    obedient({ preflight: { kind: 'read', run: () => new Promise(() => undefined) } }),
  );
  const run = await world.takeUp();
  await reaches(run, 'preflight.looking');
  const sinceMs = Date.parse('2026-03-01T03:14:07Z');
  const awaited = {
    what: 'dashboard.example.com has not answered GET /v1/instances/…/backups',
    sinceMs,
    untilMs: sinceMs + 300_000,
  };
  const said = (now: Date) =>
    buildRunView({ ...run.state(), awaited, runbook: rotateKey, prose: new Map(), now }).activity?.awaited;
  expect(said(new Date(sinceMs + 1_000))).toBeUndefined();
  expect(said(new Date(sinceMs + 213_000))).toBe(
    'dashboard.example.com has not answered GET /v1/instances/…/backups since 03:14:07; ' +
      'Lifeboat waits until 03:19:07 UTC at most',
  );
  await run.detach();
});

test('time in which no process drove the run does not make a step longer than usual', async () => {
  const world = await makeWorld(
    obedient({ waitForBackup: { kind: 'read', run: () => new Promise(() => undefined) } }),
  );
  const run = await world.takeUp();
  await answerToTheChange(run);
  await reaches(run, 'backup.waiting');
  const steps = new Map([['backup', 600]]);
  const { entries } = run.state();
  const hourLater = new Date(Date.parse(entries.at(-1)?.at ?? '') + 3_600_000);
  const resumed = { ...(entries[0] as Entry), type: 'run.resumed', body: {}, at: hourLater.toISOString() };
  const activity = { since: resumed.at, progress: undefined };
  const view = (more: readonly Entry[]) =>
    buildRunView({
      ...run.state(),
      activity,
      entries: [...entries, ...more],
      runbook: rotateKey,
      prose: new Map(),
      usual: { steps, longest: steps, wholeSeconds: 900, longestWhole: 900, runs: 1 },
      now: hourLater,
    }).activity;
  expect(view([])?.expected).toBe('longer than usual (10 min)');
  expect(view([])?.runExpected).toMatch(/^longer than usual \(15 min\)/u);
  expect(view([resumed])?.expected).toMatch(/^usually 10 min; expected/u);
  expect(view([resumed])?.runExpected).toMatch(/^usually 15 min; expected to end/u);
  await run.detach();
});

test('the clock and the steps of a run stand still once it has ended', async () => {
  const { run } = await rotated();
  const at = (now: Date) => buildRunView({ ...run.state(), runbook: rotateKey, prose: new Map(), now });
  const [soon, later] = [at(NOW), at(new Date(NOW.getTime() + 86_400_000))];
  expect([later.elapsed, later.rail]).toEqual([soon.elapsed, soon.rail]);
  expect(later.outcome?.took).toBe(soon.outcome?.took);
});

test('a run that was abandoned ends as abandoned, with the reason, and asks nothing', async () => {
  const world = await makeWorld(obedient());
  const run = await world.takeUp();
  await reaches(run, 'oldBackup.asking');
  const view = viewOf(withEntries(run, ['run.abandoned', { reason: 'the\u001b[2J instance is gone' }]));
  expect(view.outcome).toMatchObject({ tone: 'warn', verdict: 'abandoned' });
  expect(view.outcome?.title).toMatch(/^abandoned: the.* instance is gone$/u);
  expect(view.outcome?.title).not.toContain('\u001b');
  expect([view.question, view.activity, view.banner]).toEqual([undefined, undefined, undefined]);
  await run.detach();
});

test('the run of a single command has the title of its change', () => {
  const titles = INPUTS['single-change'].map((input) => {
    const snapshot = getInitialSnapshot(singleChange.machine, { instance: 'orders', ...input });
    const facts = { runId: 'r1', instance: 'orders', entries: [], activity: undefined, paused: undefined };
    return buildRunView({ ...facts, runbook: singleChange, snapshot, prose: new Map(), now: NOW }).title;
  });
  expect(titles).not.toContain(singleChange.title);
  expect(new Set(titles).size).toBe(11);
  expect(titles[2]).toBe('restore a backup');
});
