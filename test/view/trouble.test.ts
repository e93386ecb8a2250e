import { describe, expect, test } from 'vitest';
import type { OtherWay } from '../../machines/parts/question.ts';
import { recoverCommand } from '../../machines/parts/question.ts';
import type { Failure } from '../../src/base/failure.ts';
import { describeQuestion } from '../../src/plain/describe-question.ts';
import type { Entry } from '../../src/store/journal.ts';
import { runEntry } from '../../src/store/run-entries.ts';
import { layOut } from '../../src/tui/screens/run/layout.ts';
import { firstState } from '../../src/tui/screens/run/ui-state.ts';
import type { QuestionView, RunView } from '../../src/view/run-view.ts';
import { viewQuestion, viewTrouble } from '../../src/view/view-question.ts';
import { drive } from '../tui/drive.ts';
import { CHOICE, VIEWS } from '../tui/fake-views.ts';
import { look, textIn } from '../tui/shown.ts';

type Body = Parameters<typeof runEntry>[2];

/** Entries of a run, one a second from 03:00:01 on. */
function record(...all: readonly (readonly [Parameters<typeof runEntry>[1], object])[]): Entry[] {
  return all.map(([type, body], at): Entry => {
    const entry = runEntry('01J', type, body as Body);
    const time = `2026-11-21T03:00:0${at + 1}.000Z`;
    return { ...entry, stream: 'run/01J', seq: at + 1, index: at, at: time, by: 'ada', hash: '' } as Entry;
  });
}

const failure = (code: string, evidence: Failure['evidence'] = {}): Failure => ({
  code,
  shortMessage: 'it failed',
  hints: [],
  evidence,
});
const mark = { intent: 'backup-1', verb: 'createBackup' };
const begun = { activity: 'createBackup', verb: 'createBackup', kind: 'once', key: 'backup-1', input: {} };
const event = { event: { type: 'xstate.error.actor.createBackup' }, to: 'backup.failed' };
const answer = failure('service.error', { status: 502, word: 'badGateway', requestId: 'r-77' });

function rowsOf(found: Failure, entries: readonly Entry[]): string[] {
  return viewTrouble(found, entries, '01J').facts.map(({ label, value }) => `${label}: ${value}`);
}

describe('what is shown about a failure', () => {
  test('of a call: what was sent and when, what came back by its request id, what the service showed', () => {
    const doubt = failure('doubt.ambiguous', { candidates: [{ id: 12 }, { id: 13 }] });
    const entries = record(
      ['activity.begun', begun],
      ['intent.prepared', { ...mark, baseline: {} }],
      ['intent.armed', mark],
      ['intent.outcome', { ...mark, sent: 'unknown', failure: answer }],
      ['intent.judged', { ...mark, verdict: 'ambiguous', failure: doubt }],
      ['event', event],
    );
    expect(rowsOf(doubt, entries)).toEqual([
      'sent: POST /backups, once at 03:00:03 UTC',
      'answer: status 502, "badGateway", request id r-77, 03:00:04 UTC',
      'service: showed 2 tasks at 03:00:05 UTC that the request may have become',
      'code: doubt.ambiguous, intent backup-1',
    ]);
  });

  test('of a call that was sent again: how often, and the last time', () => {
    const entries = record(
      ['activity.begun', begun],
      ['intent.armed', mark],
      ['intent.outcome', { ...mark, sent: 'absent', refused: true, failure: failure('service.busy') }],
      ['intent.armed', mark],
      ['event', event],
    );
    expect(rowsOf(failure('service.busy'), entries)[0]).toBe(
      'sent: POST /backups, 2 times, last at 03:00:04 UTC',
    );
  });

  test.each([
    ['once', 'nothing was sent'],
    ['repeatable', 'the same again changes nothing more'],
    ['read', 'it only reads'],
  ])('of a %s verb that sent nothing: %s', (kind, safe) => {
    const entries = record(['activity.begun', { ...begun, kind }], ['event', event]);
    expect(
      rowsOf(failure('service.unreachable', { transport: 'ECONNREFUSED' }), entries).slice(0, 2),
    ).toEqual([
      `tried: to create a backup, at 03:00:01 UTC; ${safe}`,
      'answer: none: ECONNREFUSED, 03:00:02 UTC',
    ]);
  });

  test('of a service that could not be asked: why, and not that it showed nothing', () => {
    const entries = record(['activity.begun', begun], ['intent.armed', mark], ['event', event]);
    const found = failure('doubt.unreadable', { cause: 'the service refuses the connection' });
    expect(rowsOf(found, entries)).toContain(
      'service: could not be asked at 03:00:03 UTC: the service refuses the connection',
    );
  });

  test('of a failure without a call: its code alone', () => {
    expect(rowsOf(failure('backup.another-key-opens'), [])).toEqual(['code: backup.another-key-opens']);
  });

  test('no text of the service acts on a terminal', () => {
    const found = failure('service.error\u001b[31m', {
      status: 502,
      word: '\u009b2J',
      requestId: 'a\u202eb',
    });
    expect(rowsOf(found, []).join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
  });
});

describe('failed attempts in a row', () => {
  const failed = (evidence: Failure['evidence'], activity = 'overview') =>
    ['event', { event: { type: `xstate.error.actor.${activity}`, error: failure('x', evidence) } }] as const;
  const done = ['event', { event: { type: 'xstate.done.actor.overview' } }] as const;
  const retry = ['event', { event: { type: 'operator.retry' } }] as const;
  const down = failed({ status: 502 });

  test.each([
    ['one', [down], 'the last try got 502'],
    ['several with the same answer', [down, retry, down, retry, down], 'the last 3 tries got 502'],
    [
      'several with different answers',
      [failed({ status: 503 }), retry, failed({ transport: 'ECONNREFUSED' })],
      'the last 2 tries got no answer and got 503',
    ],
    ['none from before it worked', [down, retry, done, down], 'the last try got 502'],
    ['none of another call', [failed({ status: 503 }, 'list'), retry, down], 'the last try got 502'],
    ['one without any answer on record', [failed({})], 'the last try failed'],
    ['no try at all', [retry], undefined],
  ] as const)('are counted: %s', (_, entries, words) => {
    const all = entries.map(([type, body]) => [type, { ...body, to: 'preflight.failed' }] as const);
    expect(viewTrouble(failure('service.error'), record(...all), '01J').tries).toBe(words);
  });
});

describe('where the instance may be lost', () => {
  const retry = {
    event: { type: 'operator.retry' },
    label: 'try again',
    hint: 'asks the service again',
  } as const;
  const stop = { event: { type: 'operator.stop' }, label: 'stop the run' } as const;
  const leadsTo = { kind: 'recover', instance: 'orders' } as const;
  const viewed = (otherWays: readonly OtherWay[], targets: readonly string[] = []) =>
    viewQuestion(
      { kind: 'choice', prompt: 'it failed', options: [retry, stop], otherWays },
      { operator: 'ada', now: new Date(0), promised: { from: undefined }, targets },
      { facts: [], commands: [], tries: 'the last 3 tries got 502' },
    );
  const asked = (otherWays: readonly OtherWay[]) => viewed(otherWays).options;
  const ways = (...given: Parameters<typeof viewed>) => {
    const question = viewed(...given);
    return question.kind === 'choice' ? (question.trouble?.commands ?? []) : [];
  };

  test.each([
    ['the only target is named', ['orders-dr'], 'orders-dr'],
    ['the instance itself is none', ['orders', 'o dr'], "'o dr'"],
    ['of several none is chosen', ['orders-dr', 'billing-dr'], 'TARGET'],
    ['without one the place is left open', [], 'TARGET'],
  ] as const)('%s', (_, targets, word) => {
    const command = recoverCommand('orders');
    const [way] = ways([{ when: 'if orders is lost', command, leadsTo }], targets);
    expect(way?.command).toBe(`lifeboat run disaster-recovery orders --target ${word} --perform`);
    expect(way?.leadsTo).toEqual({ ...leadsTo, ...(word === 'TARGET' ? {} : { target: targets.at(-1) }) });
  });

  test('another attempt stays possible and says what it would need', () => {
    const [again] = asked([{ when: 'if orders is lost', command: 'lifeboat run', leadsTo }]);
    expect(again?.disabled).toBeUndefined();
    expect(again?.hint).toBe(
      'only if orders answers again (the last 3 tries got 502); it asks the service again',
    );
  });

  test('and the hint is the plain one where another attempt does not depend on a lost instance', () => {
    expect(asked([])[0]?.hint).toBe('asks the service again');
    const key = { kind: 'add-key', instance: 'orders' } as const;
    expect(asked([{ when: 'enter it', command: 'x', leadsTo: key }])[0]?.hint).toBe('asks the service again');
  });
});

test('doctor is offered only where it checks what failed, and the record always', () => {
  const commands = (code: string) =>
    viewTrouble(failure(code), [], '01J').commands.map(({ command }) => command);
  expect(commands('service.error')).toEqual(['lifeboat doctor', 'lifeboat audit show 01J']);
  expect(commands('doubt.unreadable')).toEqual(['lifeboat doctor', 'lifeboat audit show 01J']);
  expect(commands('keys.locked')).toEqual(['lifeboat doctor', 'lifeboat audit show 01J']);
  expect(commands('backup.another-key-opens')).toEqual(['lifeboat audit show 01J']);
});

const COMMAND = 'lifeboat run disaster-recovery orders --target orders-dr --perform';
const question: QuestionView = {
  ...CHOICE,
  trouble: {
    facts: [{ label: 'answer', value: 'status 502', tone: 'plain' }],
    commands: [
      { when: 'if orders is lost', command: COMMAND },
      { when: 'read the record', command: 'lifeboat audit show 01J' },
    ],
  },
};
const view: RunView = { ...VIEWS.choice, question };

describe('the question about a failure', () => {
  test('stays the same question whatever more is recorded about the failure', () => {
    const ui = drive(view);
    ui.press('down');
    ui.show({ ...view, question: { ...question, trouble: { facts: [], commands: [] } } });
    expect(ui.state().question?.row).toBe(1);
  });

  test('gives its first command to the clipboard by y, without an answer', () => {
    const ui = drive(view);
    ui.press('y');
    const what = `the command: ${COMMAND}`;
    expect(ui.effects).toEqual([{ type: 'app', effect: { type: 'copy', text: COMMAND, what } }]);
  });

  test.each([
    [80, 24],
    [100, 30],
    [160, 50],
  ])('shows at %i x %i the first command whole and every way out', (columns, rows) => {
    const text = textIn(layOut(firstState(view, 0), { columns, rows }, look));
    expect(text.split('\n')).toContain(COMMAND);
    for (const { label } of question.options) expect(text).toContain(label);
    expect(text).toContain('y copy command');
  });

  test('prints facts and commands in lines, each command on one of its own', () => {
    const lines = describeQuestion(
      question,
      { runId: '01J', clock: '2026-11-21 03:00:00' } as never,
      'nobody',
    );
    expect(lines).toContain('  answer:  status 502');
    expect(lines).toContain('  if orders is lost:');
    expect(lines).toContain(`    ${COMMAND}`);
  });
});
