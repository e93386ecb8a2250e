import { describe, expect, test } from 'vitest';
import { createActor, createMachine } from 'xstate';
import type { FollowUp } from '../../machines/parts/follow-up.ts';
import type { Question } from '../../machines/parts/question.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import type { Entry } from '../../src/store/journal.ts';
import { buildRunView } from '../../src/view/build-run-view.ts';
import { at, followUps, journalOf, recovery, recoveryLines, replaced, started } from '../report/recovery.ts';
import { followUpRunbook } from './follow-up-runbook.ts';

const choice: Question = { kind: 'choice', prompt: 'go on?', options: [] };
const open = followUps.map((followUp): FollowUp => ({ ...followUp, closed: undefined }));

function viewOf(
  input: {
    readonly followUps?: readonly FollowUp[];
    readonly question?: Question;
    readonly event?: string;
  },
  entries: readonly Entry[] = journalOf(started(), recoveryLines),
  runbook: Runbook = followUpRunbook,
) {
  const actor = createActor(runbook.machine, {
    input: { followUps: [], question: choice, ...input },
  }).start();
  if (input.event !== undefined) actor.send({ type: input.event });
  return buildRunView({
    runbook,
    runId: '01R',
    instance: 'orders',
    snapshot: actor.getSnapshot(),
    entries,
    activity: undefined,
    paused: undefined,
    prose: new Map(),
    now: new Date(at(465)),
  });
}

test('the follow-up step is done on the rail only when every follow-up that no later step does is closed', () => {
  const machine = createMachine({
    id: 'small-recovery',
    types: {} as { input: object },
    context: ({ input }) => input,
    initial: 'followUps',
    states: {
      followUps: { meta: { title: 'bind the applications to it' }, on: { 'operator.go': 'fresh' } },
      fresh: { meta: { title: 'back up the restored data' } },
      done: { type: 'final' },
    },
  });
  const [rebind] = open as [FollowUp];
  const own: FollowUp = { ...rebind, id: 'fresh-backup', kind: 'fresh-backup', doable: 'run' };
  const closed = { how: 'hand', text: 'ticket 4711', at: at(400), evidence: {} } as const;
  const railWith = (...left: FollowUp[]) =>
    viewOf({ followUps: left, event: 'operator.go' }, journalOf(started()), {
      ...followUpRunbook,
      machine,
    }).rail.map(({ state }) => state);
  expect(railWith(rebind, own)).toEqual(['open', 'current']);
  expect(railWith({ ...rebind, closed }, own)).toEqual(['done', 'current']);
});

describe('an outcome', () => {
  const [rebind, other] = open as [FollowUp, FollowUp];
  const closed = (how: 'skipped' | 'hand' | 'platform', text: string) =>
    ({ how, text, at: at(400), evidence: {} }) as const;
  const ended = (...all: FollowUp[]) =>
    viewOf({ followUps: all, event: 'operator.end' }, undefined, {
      ...followUpRunbook,
      closing: () => ({
        outcome: 'done',
        proven: true,
        title: 'restored, and there are no follow-ups',
        summary: [{ title: 'what was done', facts: [{ label: 'backup', value: 7 }] }],
        deviations: all
          .filter((one) => one.closed?.how === 'skipped')
          .map(({ id, closed: how }) => ({ step: id, reason: how?.text ?? '' })),
      }),
    }).outcome;

  test('is no plain success when a follow-up was skipped, and says so once, before everything else', () => {
    const outcome = ended(
      { ...rebind, closed: closed('platform', 'job 7') },
      { ...other, closed: closed('skipped', 'nobody uses it\u001b[2J') },
    );
    expect(outcome?.tone).toBe('warn');
    expect(outcome?.remarks[0]?.text).toMatch(/^not done: .*: skipped at .*: nobody uses it/u);
    expect(outcome?.remarks.map(({ text }) => text).join()).not.toContain('\u001b');
    expect(outcome?.remarks.filter(({ text }) => text.includes('nobody uses it'))).toHaveLength(1);
  });

  test('says what rests on the word of a person', () => {
    const outcome = ended({ ...rebind, closed: closed('hand', 'cf says deployed') });
    expect(outcome?.tone).toBe('good');
    expect(outcome?.remarks[0]?.text).toMatch(/^unbind, .*: by hand at .*: cf says deployed$/u);
  });
});

describe('the follow-ups of a run', () => {
  test('are shown with owner, age, time left and the exact commands', () => {
    const [first, second] = viewOf({ followUps: open }).followUps;
    expect(first).toEqual({
      id: 'rebind-orders-api',
      what: 'unbind, bind and restage orders-api',
      subject: 'orders-api',
      owner: 'Ada',
      age: 300,
      left: 600,
      commands: ['cf target -o acme -s prod', 'cf restage orders-api --strategy rolling'],
      doable: 'platform',
      closed: undefined,
    });
    expect(second).toMatchObject({ owner: 'Ada', age: 300, left: undefined, doable: undefined });
  });

  test('are overdue by the time that has passed since their limit', () => {
    const late = open.map((followUp) => ({ ...followUp, dueSeconds: 60 }));
    expect(viewOf({ followUps: late }).followUps[0]?.left).toBe(-240);
  });

  test('stay in the list when they are closed, with how and when, and their age no longer grows', () => {
    const [platform, hand, skipped] = viewOf({ followUps }).followUps;
    expect(platform).toMatchObject({ age: 85, left: undefined });
    expect(platform?.closed).toEqual({
      tone: 'good',
      text: 'by the platform at 2026-03-01 03:04:10 UTC: restaged, running',
    });
    expect(hand?.closed).toEqual({ tone: 'good', text: 'by hand: restaged by the night shift' });
    expect(skipped?.closed).toEqual({ tone: 'warn', text: 'skipped: retired last week' });
  });

  test('come first among the facts until none is open or the run is over', () => {
    const line = { label: 'follow-ups', value: '4 open', tone: 'warn' };
    const backup = { label: 'backup', value: '7', tone: 'plain' };
    expect(viewOf({ followUps: open }).facts).toEqual([line, backup]);
    expect(viewOf({ followUps }).facts).toEqual([backup]);
    expect(viewOf({ followUps: open, event: 'operator.end' }).facts).toEqual([backup]);
    const said = {
      ...followUpRunbook,
      facts: () => [{ label: 'follow-ups', value: '4 open' }],
    };
    expect(viewOf({ followUps: open }, undefined, said).facts).toHaveLength(1);
    const frozen = [{ ...open[0], kind: 'release-updates' as const } as FollowUp];
    expect(viewOf({ followUps: frozen }).facts[0]?.value).toBe('1 open');
  });

  test('cannot act on a terminal, and their long commands stay whole', () => {
    const hostile = '\u001b[2J\u202e';
    const long = `cf update-service orders -c '${'x'.repeat(1000)}'`;
    const spoilt = {
      id: hostile,
      what: hostile,
      subject: hostile,
      owner: hostile,
      commands: [hostile, long],
    };
    const closed = { how: 'hand' as const, text: hostile, evidence: {} };
    const [shown] = viewOf({ followUps: [{ ...spoilt, kind: 'rebind', closed }] }).followUps;
    expect(JSON.stringify(shown)).not.toMatch(/\\u001b|\u202e/u);
    expect(shown?.commands[1]).toBe(long);
  });
});

describe('a question', () => {
  const time: Question = {
    kind: 'time',
    prompt: 'which moment?',
    event: 'operator.chooseTime',
    earliest: at(-500),
    latest: at(-5),
    options: [],
  };

  test('for a time never suggests the latest moment if the time of the incident is unknown', () => {
    const long = { ...time, earliest: at(-86_400) };
    const marks = { incident: undefined, backups: [] };
    expect(viewOf({ question: long }).question).toEqual({ ...long, marks, suggested: at(-905) });
    expect(viewOf({ question: time }).question).toMatchObject({ suggested: time.earliest });
  });

  test('for a time includes when it went wrong and when backups were made', () => {
    const asked: Question = { ...time, wentWrongAt: at(-20), backupsAt: [at(-300)] };
    expect(viewOf({ question: asked }).question).toMatchObject({
      marks: { incident: at(-20), backups: [at(-300)] },
    });
  });

  test('for a time suggests a minute before the incident within the range, or what the machine suggests', () => {
    for (const [wentWrongAt, suggested] of [
      [at(-20), at(-80)],
      [at(-3600 * 24), time.earliest],
      [at(3600), at(-5)],
      ['yesterday', time.earliest],
    ] as const)
      expect(viewOf({ question: { ...time, wentWrongAt } }).question).toMatchObject({ suggested });
    const near: Question = { ...time, suggested: at(-90) };
    expect(viewOf({ question: near }).question).toMatchObject({ suggested: at(-90) });
    for (const strange of [at(0), at(-501), 'soon'])
      expect(viewOf({ question: { ...time, suggested: strange } }).question).toMatchObject({
        suggested: at(-5),
      });
  });

  test('for a word has its pattern and the sentence that says what fits', () => {
    const text: Question = {
      kind: 'text',
      prompt: 'which guid?\u001b[2J',
      event: 'operator.enterGuid',
      pattern: { source: '[0-9a-f-]{36}', says: 'a guid has 36 characters' },
      options: [],
    };
    expect(viewOf({ question: text }).question).toEqual({ ...text, prompt: 'which guid?\ufffd[2J' });
    const { pattern: _, ...free } = text as Extract<Question, { kind: 'text' }>;
    expect(viewOf({ question: free }).question).not.toHaveProperty('pattern');
  });

  test('about follow-ups lists the open ones, ready to be shown', () => {
    const question: Question = {
      kind: 'followUps',
      prompt: 'one follow-up is open',
      followUps: [...open.slice(0, 1), ...followUps.slice(1)],
      close: 'operator.reportDone',
      skip: 'operator.skip',
      doNow: 'operator.doNow',
      options: [{ event: { type: 'operator.doAll' }, label: 'all of them', recommended: true }],
    };
    expect(viewOf({ question }).question).toMatchObject({
      kind: 'followUps',
      open: [{ id: 'rebind-orders-api', age: 300, commands: open[0]?.commands }],
      close: 'operator.reportDone',
      options: [{ event: 'operator.doAll', recommended: true }],
    });
  });
});

describe('objectives', () => {
  const objectives = { rtoSeconds: 500, rpoSeconds: 3600 };

  test('are counted by the clock while the recovery is not over, and warn when little is left', () => {
    const running = viewOf({ followUps: open }, journalOf(started({ objectives }), recoveryLines)).objectives;
    expect(running).toEqual([
      {
        name: 'RTO',
        limit: 500,
        value: 465,
        running: true,
        tone: 'warn',
        slices: [
          { name: 'decide', seconds: 100 },
          { name: 'queue', seconds: 10 },
          { name: 'execute', seconds: 40 },
          { name: 'human', seconds: 75 },
          { name: 'rebind', seconds: 240 },
        ],
        detail: 'decide 1 min 40 s, queue 10 s, execute 40 s, human 1 min 15 s, rebind 4 min',
      },
      {
        name: 'RPO',
        limit: 3600,
        value: 360,
        running: false,
        tone: 'good',
        verdict: 'met',
        detail:
          'by the data: 2026-03-01 02:53:20 to 2026-03-01 02:59:20 UTC (the newest record before), at most 8 min 20 s, 1000 rows before, 940 after',
      },
    ]);
  });

  test('never go below zero: a recovery to a moment after the loss says so', () => {
    const idle = { configured: true, at: at(30), newest: at(-500), count: 940 };
    const lines = recoveryLines.map((line) => replaced(line, 'before', idle));
    const [, point] = viewOf({ followUps: open }, journalOf(started({ objectives }), lines)).objectives;
    expect(point).toMatchObject({
      value: 0,
      verdict: 'met',
      detail: expect.stringContaining(
        'by the data: recovered up to 2026-03-01 02:53:20 UTC, no earlier than the newest record before (2026-03-01 02:51:40 UTC)',
      ),
    });
  });

  test('are met or missed once the recovery is over, and plain where there is no limit', () => {
    const said = (entries: readonly Entry[]) =>
      viewOf({ followUps }, entries).objectives.map(({ tone, verdict }) => [tone, verdict]);
    const plain = ['plain', undefined];
    expect(said(recovery)).toEqual([
      ['good', 'met'],
      ['bad', 'missed'],
    ]);
    expect(said(journalOf(started(), recoveryLines))).toEqual([plain, plain]);
    const late = journalOf(started({ objectives: { rtoSeconds: 10 } }), recoveryLines);
    expect(said(late)).toEqual([['bad', 'missed'], plain]);
  });

  test('are shown before anything is restored, but not for a runbook that recovers nothing', () => {
    const early = viewOf({}, journalOf(started({ objectives }))).objectives;
    expect(early.map(({ value, detail }) => [value, detail])).toEqual([
      [465, 'decide 7 min 45 s'],
      [undefined, 'not measured yet'],
    ]);
    const { restoring: _, ...states } = followUpRunbook.machine.states;
    const harmless = {
      ...followUpRunbook,
      machine: Object.assign(Object.create(followUpRunbook.machine), { states }),
    };
    expect(viewOf({}, journalOf(started()), harmless).objectives).toEqual([]);
  });
});
