import type { Entry } from '../../src/store/journal.ts';
import { type RunEntryBody, type RunEntryType, runEntry } from '../../src/store/run-entries.ts';
import { at, closed, journalOf, type Line, moved, performed, started } from './recovery.ts';

const HOUR = 3600;

function line<T extends RunEntryType>(seconds: number, type: T, body: RunEntryBody<T>): Line {
  return { at: seconds, entry: runEntry('01R', type, body as never) };
}

const failure = { code: 'service.timeout', shortMessage: 'no answer within 30 s', hints: [], evidence: {} };
const challenge = '0123456789abcdef';
const second = 'fedcba9876543210';

function asked(seconds: number, id: string): Line {
  return line(seconds, 'approval.asked', {
    challenge: id,
    text: 'lifeboat approval\n',
    target: 'orders',
    order: 'restore backup 7 into orders',
    plan: 'ab'.repeat(32),
    requester: 'Ada',
    expiresAt: at(seconds + HOUR),
  });
}

const restored = {
  id: 4,
  status: 'done',
  backup: 7,
  restoredFrom: at(-2 * HOUR),
  triggeredAt: at(5 * HOUR),
  startedAt: at(5.5 * HOUR),
  finishedAt: at(8 * HOUR),
};

const waiting = performed([5.3 * HOUR, 8 * HOUR], 'waitForRestore', restored, 'waitingForInstance');

/**
 * A recovery of nine hours in which everything happens that a record has to tell: an approval that was given,
 * one that was withdrawn, a step that went on without its second person, a lost answer, an overdue task, a
 * paused token, a second process.
 */
export const longNight: readonly Entry[] = journalOf(
  started({
    input: { instance: 'orders', incidentAt: at(-0.5 * HOUR), reason: 'orders were deleted' },
    objectives: { rtoSeconds: 4 * HOUR, rpoSeconds: HOUR },
  }),
  moved(1, 'checking', { type: 'xstate.init' }),
  ...performed([2, 10], 'preflight', { clockSkewSeconds: 0 }, 'confirming'),
  asked(60, challenge),
  line(HOUR, 'approval.given', {
    challenge,
    approver: 'grace@example.com',
    key: 'SHA256:47DEQpj8HBSa',
    publicKey: 'ssh-ed25519 AAAA',
    signature: '-----BEGIN SSH SIGNATURE-----',
    method: 'ssh',
    allowedSigners: 'cd'.repeat(32),
  }),
  line(2 * HOUR, 'approval.withdrawn', {
    challenge,
    approver: 'grace@example.com',
    reason: 'another backup is better',
  }),
  asked(2 * HOUR + 5, second),
  line(4.9 * HOUR, 'answer', {
    event: 'operator.confirm',
    label: 'confirmed by typed name',
    reason: 'nobody answers',
  }),
  line(4.9 * HOUR, 'approval.bypassed', {
    challenge: second,
    order: 'restore backup 7 into orders',
    reason: 'the approver cannot be reached',
  }),
  moved(4.9 * HOUR, 'restoring', { type: 'operator.confirm', typed: 'orders' }),
  line(5 * HOUR, 'intent.armed', { intent: 'i1', verb: 'restoreBackup' }),
  line(5 * HOUR + 30, 'intent.outcome', { intent: 'i1', verb: 'restoreBackup', sent: 'unknown', failure }),
  line(5 * HOUR + 90, 'intent.judged', { intent: 'i1', verb: 'restoreBackup', verdict: 'landed' }),
  moved(5 * HOUR + 91, 'waitingForRestore', { type: 'xstate.done.actor.restore' }),
  line(5.2 * HOUR, 'run.paused', {
    reason: 'credentials',
    failure: { ...failure, shortMessage: 'the token was refused' },
  }),
  line(5.3 * HOUR, 'run.resumed', { pid: 4242 }),
  ...waiting.slice(0, 1),
  line(6 * HOUR, 'activity.overdue', {
    activity: 'waitForRestore',
    verb: 'waitForRestore',
    seconds: 3600,
    limitSeconds: 1800,
    basis: 'history',
  }),
  ...waiting.slice(1),
  ...performed([8 * HOUR, 8.1 * HOUR], 'waitForInstance', { state: 'provisioned' }, 'openFollowUps'),
  line(8.4 * HOUR, 'answer', {
    event: 'operator.retry',
    label: 'try again',
    reason: 'the platform was down',
  }),
  moved(8.4 * HOUR, 'restaging', { type: 'operator.retry' }),
  moved(8.9 * HOUR, 'done', { type: 'xstate.done.actor.restage' }),
  line(9 * HOUR - 1, 'transcript.kept', { lines: 812, bytes: 90_000, sha256: 'ef'.repeat(32) }),
  closed(9 * HOUR, { title: 'restored, and its applications run', followUps: [] }),
);
