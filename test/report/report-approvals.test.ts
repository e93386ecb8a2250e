import { expect, test } from 'vitest';
import { measure } from '../../src/report/measure/measure.ts';
import { renderReport } from '../../src/report/render-report.ts';
import { buildReport } from '../../src/report/report.ts';
import type { NewEntry } from '../../src/store/journal.ts';
import { type ApprovalPolicy, runEntry } from '../../src/store/run-entries.ts';
import { longNight } from './long-night.ts';
import { armed, at, journalOf, type Line, performed, sliceOf, started } from './recovery.ts';

const options = { generatedAt: new Date('2026-03-02T00:00:00Z'), sliceOf };
const night = buildReport(longNight, {
  ...options,
  measures: measure(longNight, { sliceOf, followUps: [] }),
});

test('an approval shows who, when, what hash and how; one that was withdrawn or bypassed says so', () => {
  expect(night.approvals).toEqual([
    expect.objectContaining({
      state: 'withdrawn',
      approver: 'grace@example.com',
      at: at(7200),
      plan: 'ab'.repeat(32),
    }),
    expect.objectContaining({ state: 'bypassed', approver: 'ada', reason: 'the approver cannot be reached' }),
  ]);
  const [first] = buildReport(longNight.slice(0, 6), options).approvals;
  expect(first).toMatchObject({ state: 'given', method: 'ssh', key: 'SHA256:47DEQpj8HBSa', at: at(3600) });
});

test.for([
  ['asked', 0, 60, 'asked'],
  ['expired', 0, 7200, 'expired'],
  ['replaced', 1, 60, 'replaced'],
] as const)('an unsigned request for an approval is shown as %s', ([_, more, until, state], { expect }) => {
  const request = (challenge: string) =>
    runEntry('01R', 'approval.asked', {
      challenge,
      text: 'x',
      target: 'orders',
      order: 'restart orders',
      plan: '',
      requester: 'ada',
      expiresAt: at(3600),
    });
  const later = ['b'].slice(0, more).map((challenge) => ({ at: 20, entry: request(challenge) }));
  const left = { at: until, entry: runEntry('01R', 'run.resumed', { pid: 1 }) };
  const { approvals } = buildReport(
    journalOf(started(), { at: 10, entry: request('a') }, ...later, left),
    options,
  );
  expect(approvals[0]?.state).toBe(state);
});

test('a bypass whose question cannot be read is still shown', () => {
  const bypassed = { challenge: 'x', order: 'restore', reason: 'nobody is there' };
  const report = buildReport(
    journalOf(started(), { at: 5, entry: runEntry('01R', 'approval.bypassed', bypassed) }),
    options,
  );
  expect(report.alarms).toHaveLength(1);
  expect(report.approvals).toMatchObject([{ state: 'bypassed', order: 'restore' }]);
  expect(report.deviations[0]).toMatchObject({ kind: 'break-glass', reason: 'nobody is there' });
});

const PLAN = 'ab'.repeat(32);
const line = (seconds: number, entry: NewEntry): Line => ({ at: seconds, entry });
const asked = (seconds: number, challenge: string) =>
  line(
    seconds,
    runEntry('01R', 'approval.asked', {
      ...{ challenge, text: 'x', target: 'orders', order: 'restore backup 7 into orders', plan: PLAN },
      ...{ requester: 'ada', expiresAt: at(3600) },
    }),
  );
const given = (seconds: number, challenge: string) =>
  line(
    seconds,
    runEntry('01R', 'approval.given', {
      ...{ challenge, approver: 'grace', key: 'SHA256:x', publicKey: 'ssh-ed25519 AAAA', signature: 's' },
      ...{ method: 'ssh', allowedSigners: 'cd' },
    }),
  );
const bypassed = (seconds: number, challenge: string) =>
  line(seconds, runEntry('01R', 'approval.bypassed', { challenge, order: 'restore', reason: 'alone' }));
const withdrawn = (seconds: number, challenge: string) =>
  line(seconds, runEntry('01R', 'approval.withdrawn', { challenge, approver: 'grace', reason: 'no' }));

test.each([
  ['given', [asked(1, 'a'), given(2, 'a')], 'approved plan, SHA-256'],
  [
    'asked for again after it was given',
    [asked(1, 'a'), given(2, 'a'), asked(3, 'b')],
    'approved plan, SHA-256',
  ],
  ['asked for', [asked(1, 'a')], 'plan submitted for approval, **not approved** (not answered), SHA-256'],
  ['gone past', [asked(1, 'a'), bypassed(2, 'a')], '**not approved** (bypassed), SHA-256'],
  ['withdrawn', [asked(1, 'a'), given(2, 'a'), withdrawn(3, 'a')], '**not approved** (withdrawn), SHA-256'],
])('a plan whose approval was %s is shown as such', (_what, lines, words) => {
  const text = renderReport(buildReport(journalOf(started(), lines), options), 'md');
  expect(text).toContain(`${words} \`${PLAN}\``);
  if (!words.startsWith('approved')) expect(text).not.toMatch(/^- approved plan/mu);
});

const setKey = performed([10, 11], 'setKey', { answer: 'accepted' }, 'done', { fingerprint: '0a1b' });
test.each([
  ['not answered', [asked(1, 'a'), armed(5, 'restoreBackup')], ['not answered']],
  ['not answered, for a key', [asked(1, 'a'), setKey], ['not answered']],
  ['withdrawn before', [asked(1, 'a'), given(2, 'a'), withdrawn(3, 'a'), armed(5, 'restart')], ['withdrawn']],
  [
    'given for what was asked before only',
    [asked(1, 'a'), given(2, 'a'), asked(3, 'b'), armed(5, 'restart')],
    ['not answered'],
  ],
  ['given too late', [asked(1, 'a'), armed(5, 'restoreBackup'), given(6, 'a')], ['not answered']],
  ['given', [asked(1, 'a'), given(2, 'a'), armed(5, 'restoreBackup'), setKey], []],
  ['withdrawn when all was sent', [asked(1, 'a'), given(2, 'a'), armed(5, 'restart'), withdrawn(6, 'a')], []],
  ['not needed for a backup', [asked(1, 'a'), armed(5, 'createBackup')], []],
  ['not asked for', [armed(5, 'restoreBackup')], []],
])(
  'a call whose approval was %s is shown at the head only if no one had agreed to it',
  (_what, lines, outcomes) => {
    const { alarms } = buildReport(journalOf(started(), ...lines), options);
    expect(alarms.map(({ title, text }) => [title, text])).toEqual(
      outcomes.map((outcome) => [
        'NOT APPROVED: a call was prepared whose approval was asked for and not given',
        `restore backup 7 into orders: the request was ${outcome}`,
      ]),
    );
  },
);

test('a call that continued without its second person is shown as such, and only once', () => {
  const entries = journalOf(started(), asked(1, 'a'), bypassed(2, 'a'), armed(5, 'restoreBackup'));
  expect(buildReport(entries, options).alarms.map(({ title }) => title)).toEqual([
    'BREAK-GLASS: a step went on without its second person',
  ]);
});

const who = { name: 'Ada', login: 'ada', uid: 1000, host: 'laptop', config: 'aa'.repeat(32) };
const policy = (change: Partial<ApprovalPolicy> = {}): ApprovalPolicy => ({
  required: { orders: 'destructive' },
  expiresSeconds: 3600,
  signers: { sha256: 'cd', lines: ['1'], people: [{ names: 'grace@example.com', key: 'SHA256:x' }] },
  ...change,
});
const resumed = (seconds: number, more: object) =>
  line(seconds, runEntry('01R', 'run.resumed', { pid: 1, ...more }));

test('the report lists who could approve at the beginning, and what has changed since', () => {
  const other = { ...who, name: 'Bob <x>', login: 'bob' };
  const entries = journalOf(
    started({ who, approvals: policy() }),
    resumed(5, { who: other, approvals: policy({ required: { orders: 'none' } }) }),
    line(
      6,
      runEntry('01R', 'approval.weakened', {
        reason: 'alone',
        changes: [{ what: 'w', begun: 'b', now: 'n' }],
      }),
    ),
    asked(7, 'a'),
    line(
      8,
      runEntry('01R', 'approval.given', {
        ...{
          challenge: 'a',
          approver: 'grace',
          key: 'SHA256:x',
          publicKey: 'ssh-ed25519 AAAA',
          signature: 's',
        },
        ...{ method: 'ssh', allowedSigners: 'ef' },
      }),
    ),
  );
  const report = buildReport(entries, options);
  expect(report.mayApprove).toEqual({
    asOf: at(0),
    begun: [
      { label: 'approval on orders', value: 'for every destructive step' },
      { label: 'a request lasts', value: '1 h' },
      { label: 'allowed signers', value: '1 line, SHA-256 cd' },
      { label: 'revoked keys', value: 'no list' },
    ],
    people: [{ names: 'grace@example.com', key: 'SHA256:x' }],
    drivers: [
      { at: at(0), name: 'Ada', login: 'ada', uid: '1000', host: 'laptop', config: who.config },
      { at: at(5), name: 'Bob <x>', login: 'bob', uid: '1000', host: 'laptop', config: who.config },
    ],
    changes: [
      expect.objectContaining({
        ...{ at: at(5), what: 'approval on orders' },
        ...{ was: 'for every destructive step', is: 'not needed' },
      }),
      expect.objectContaining({ at: at(8), was: 'SHA-256 cd', is: 'SHA-256 ef' }),
    ],
  });
  expect(report.alarms).toMatchObject([{ title: expect.stringMatching(/^BREAK-GLASS: .* less approval/) }]);
  for (const form of ['md', 'html'] as const) {
    const text = renderReport(report, form);
    for (const word of ['Who may approve', 'grace@example.com', 'Nothing has changed', 'not needed'])
      expect(text.includes(word), `${form}: ${word}`).toBe(word !== 'Nothing has changed');
    expect(text).not.toContain('<x>');
  }
});

test('a record of an earlier version says that it does not name the people who could approve', () => {
  const report = buildReport(journalOf(started()), options);
  expect(report.mayApprove).toEqual({ begun: [], people: [], drivers: [], changes: [] });
  expect(renderReport(report, 'md')).toContain(
    'The record does not say which approvals were required when the run began.',
  );
});
