import { describe, expect, test } from 'vitest';
import { createActor } from 'xstate';
import type { Obligation } from '../../machines/parts/obligation.ts';
import type { Question } from '../../machines/parts/question.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import type { Entry } from '../../src/store/journal.ts';
import { buildRunView } from '../../src/view/build-run-view.ts';
import { at, journalOf, obligations, recovery, started, story } from '../report/recovery.ts';
import { owingRunbook } from './owing-runbook.ts';

const choice: Question = { kind: 'choice', prompt: 'go on?', options: [] };
const open = obligations.map((owed): Obligation => ({ ...owed, settled: undefined }));

function viewOf(
  input: {
    readonly obligations?: readonly Obligation[];
    readonly question?: Question;
    readonly event?: string;
  },
  entries: readonly Entry[] = journalOf(started(), story),
  runbook: Runbook = owingRunbook,
) {
  const actor = createActor(runbook.machine, {
    input: { obligations: [], question: choice, ...input },
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

describe('an outcome', () => {
  const [rebind, other] = open as [Obligation, Obligation];
  const settled = (how: 'skipped' | 'hand' | 'platform', text: string) =>
    ({ how, text, at: at(400), evidence: {} }) as const;
  const ended = (...owed: Obligation[]) =>
    viewOf({ obligations: owed, event: 'operator.end' }, undefined, {
      ...owingRunbook,
      closing: () => ({
        outcome: 'done',
        proven: true,
        title: 'restored, and nothing is owed',
        summary: [{ label: 'backup', value: 7 }],
        deviations: owed
          .filter((one) => one.settled?.how === 'skipped')
          .map(({ id, settled: how }) => ({ step: id, reason: how?.text ?? '' })),
      }),
    }).outcome;

  test('is no plain success when something owed was skipped, and says so once, before everything else', () => {
    const outcome = ended(
      { ...rebind, settled: settled('platform', 'job 7') },
      { ...other, settled: settled('skipped', 'nobody uses it\u001b[2J') },
    );
    expect(outcome?.tone).toBe('warn');
    expect(outcome?.lines[0]).toMatch(/^not done: .*: skipped at .*: nobody uses it/u);
    expect(outcome?.lines.join()).not.toContain('\u001b');
    expect(outcome?.lines.filter((line) => line.includes('nobody uses it'))).toHaveLength(1);
  });

  test('says what stands on the word of a person', () => {
    const outcome = ended({ ...rebind, settled: settled('hand', 'cf says deployed') });
    expect(outcome?.tone).toBe('good');
    expect(outcome?.lines[0]).toMatch(/^unbind, .*: by hand at .*: cf says deployed$/u);
  });
});

describe('what a run owes', () => {
  test('is shown with owner, age, what is left and the exact commands', () => {
    const [first, second] = viewOf({ obligations: open }).obligations;
    expect(first).toEqual({
      id: 'rebind-orders-api',
      what: 'unbind, bind and restage orders-api',
      subject: 'orders-api',
      owner: 'Ada',
      age: 300,
      left: 600,
      commands: ['cf target -o acme -s prod', 'cf restage orders-api --strategy rolling'],
      payable: 'platform',
      settled: undefined,
    });
    expect(second).toMatchObject({ owner: 'Ada', age: 300, left: undefined, payable: undefined });
  });

  test('is overdue by as much as its limit has passed', () => {
    const late = open.map((owed) => ({ ...owed, dueSeconds: 60 }));
    expect(viewOf({ obligations: late }).obligations[0]?.left).toBe(-240);
  });

  test('stays in the list when it is settled, with how and when, and its age stands still', () => {
    const [platform, hand, skipped] = viewOf({ obligations }).obligations;
    expect(platform).toMatchObject({ age: 85, left: undefined });
    expect(platform?.settled).toEqual({
      tone: 'good',
      text: 'by the platform at 2026-03-01 03:04:10 UTC: restaged, running',
    });
    expect(hand?.settled).toEqual({ tone: 'good', text: 'by hand: restaged by the night shift' });
    expect(skipped?.settled).toEqual({ tone: 'warn', text: 'skipped: retired last week' });
  });

  test('is the first of the facts until nothing is owed or the run is over', () => {
    const owing = { label: 'owing', value: 'restored, still owing 4', tone: 'warn' };
    const backup = { label: 'backup', value: '7', tone: 'plain' };
    expect(viewOf({ obligations: open }).facts).toEqual([owing, backup]);
    expect(viewOf({ obligations }).facts).toEqual([backup]);
    expect(viewOf({ obligations: open, event: 'operator.end' }).facts).toEqual([backup]);
    const told = { ...owingRunbook, facts: () => [{ label: 'state', value: 'restored, still owing 4' }] };
    expect(viewOf({ obligations: open }, undefined, told).facts).toHaveLength(1);
    const frozen = [{ ...open[0], kind: 'release-updates' as const } as Obligation];
    expect(viewOf({ obligations: frozen }).facts[0]?.value).toBe('still owing 1');
  });

  test('cannot act on a terminal, and a long command stays whole', () => {
    const hostile = '\u001b[2J\u202e';
    const long = `cf update-service orders -c '${'x'.repeat(1000)}'`;
    const spoilt = {
      id: hostile,
      what: hostile,
      subject: hostile,
      owner: hostile,
      commands: [hostile, long],
    };
    const settled = { how: 'hand' as const, text: hostile, evidence: {} };
    const [owed] = viewOf({ obligations: [{ ...spoilt, kind: 'rebind', settled }] }).obligations;
    expect(JSON.stringify(owed)).not.toMatch(/\\u001b|\u202e/u);
    expect(owed?.commands[1]).toBe(long);
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

  test('for a time suggests the latest, or what the machine suggests when that can be chosen', () => {
    expect(viewOf({ question: time }).question).toEqual({ ...time, suggested: at(-5) });
    for (const [wentWrongAt, suggested] of [
      [at(-20), at(-80)],
      [at(-3600 * 24), time.earliest],
      [at(3600), at(-5)],
      ['yesterday', at(-5)],
    ] as const)
      expect(viewOf({ question: { ...time, wentWrongAt } }).question).toMatchObject({ suggested });
    const near: Question = { ...time, suggested: at(-90) };
    expect(viewOf({ question: near }).question).toMatchObject({ suggested: at(-90) });
    for (const strange of [at(0), at(-501), 'soon'])
      expect(viewOf({ question: { ...time, suggested: strange } }).question).toMatchObject({
        suggested: at(-5),
      });
  });

  test('for a word carries its pattern and the sentence that says what fits', () => {
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

  test('about obligations lists those that are still owed, ready to be shown', () => {
    const question: Question = {
      kind: 'obligations',
      prompt: 'three are owed',
      obligations: [...open.slice(0, 1), ...obligations.slice(1)],
      settle: 'operator.settle',
      skip: 'operator.skip',
      pay: 'operator.pay',
      options: [{ event: { type: 'operator.payAll' }, label: 'all of them', recommended: true }],
    };
    expect(viewOf({ question }).question).toMatchObject({
      kind: 'obligations',
      open: [{ id: 'rebind-orders-api', age: 300, commands: open[0]?.commands }],
      settle: 'operator.settle',
      options: [{ event: 'operator.payAll', recommended: true }],
    });
  });
});

describe('objectives', () => {
  const objectives = { rtoSeconds: 500, rpoSeconds: 3600 };

  test('run against the clock while the recovery is not over, and warn when little is left', () => {
    const running = viewOf({ obligations: open }, journalOf(started({ objectives }), story)).objectives;
    expect(running).toEqual([
      {
        name: 'RTO',
        limit: 500,
        value: 465,
        running: true,
        tone: 'warn',
        detail: 'decide 1 min 40 s · queue 10 s · execute 40 s · human 1 min 15 s · rebind 4 min',
      },
      {
        name: 'RPO',
        limit: 3600,
        value: 360,
        running: false,
        tone: 'good',
        detail:
          'by the data: 2026-03-01 02:53:20 to 2026-03-01 02:59:20 UTC (the newest record before), 1000 rows before, 940 after',
      },
    ]);
  });

  test('are met or missed once it is over, and plain where there is no limit', () => {
    const tones = (entries: readonly Entry[]) =>
      viewOf({ obligations }, entries).objectives.map(({ tone }) => tone);
    expect(tones(recovery)).toEqual(['good', 'bad']);
    expect(tones(journalOf(started(), story))).toEqual(['plain', 'plain']);
    expect(tones(journalOf(started({ objectives: { rtoSeconds: 10 } }), story))).toEqual(['bad', 'plain']);
  });

  test('are told before anything was restored, and not for a runbook that recovers nothing', () => {
    const early = viewOf({}, journalOf(started({ objectives }))).objectives;
    expect(early.map(({ value, detail }) => [value, detail])).toEqual([
      [465, 'decide 7 min 45 s'],
      [undefined, 'not measured yet'],
    ]);
    const { restoring: _, ...states } = owingRunbook.machine.states;
    const harmless = {
      ...owingRunbook,
      machine: Object.assign(Object.create(owingRunbook.machine), { states }),
    };
    expect(viewOf({}, journalOf(started()), harmless).objectives).toEqual([]);
  });
});
