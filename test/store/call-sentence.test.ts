import { describe, expect, test } from 'vitest';
import { runEntry } from '../../src/store/run-entries.ts';
import { entrySentences } from '../../src/store/sentence.ts';

type Input = Readonly<Record<string, string | number>>;

const services = (revision: string) =>
  ['orders', 'orders-dr'].map((instance) => ({ instance, url: 'https://service.example', revision }));

/** A run that has taken up a verb, so that later sentences use what is known by then. */
function said(verb: string, input: Input, revision = '62') {
  const say = entrySentences();
  say(
    runEntry('a', 'run.started', {
      ...{ runbook: 'restore-backup', version: '1', instance: 'orders', target: 'orders-dr', input: {} },
      ...{ mode: 'LIVE', tool: { name: 'lifeboat', version: '1', node: '24' }, operator: 'ada' },
      services: services(revision),
    }),
  );
  say(runEntry('a', 'activity.begun', { activity: 'act', verb, kind: 'once', key: 'i-1', input }));
  return say;
}

const mark = (verb: string) => ({ intent: 'i-1', verb });
const failure = { code: 'service.timeout', shortMessage: 'no answer within 30 s' };

describe('a call that is sent', () => {
  test.each([
    ['createBackup', {}, '62', 'sending POST /backups to orders'],
    ['createBackup', { on: 'target' }, '62', 'sending POST /backups to orders-dr'],
    ['restoreBackup', { backup: 7 }, '62', 'sending POST /backups/7/restore to orders'],
    ['restoreBackup', { backup: 7 }, 'v0', 'sending the request to restore backup 7 to orders'],
    ['performRecovery', { on: 'target' }, '62', 'sending POST /disaster-recovery/perform to orders-dr'],
    ['restart', {}, '62', 'sending PATCH /restart to orders'],
    ['dropDatabase', {}, '62', 'sending the request to drop database to orders'],
  ])(
    '%s of %j with revision %s names the call and its target, and is not a warning',
    (verb, input, revision, text) => {
      const armed = runEntry('a', 'intent.armed', mark(verb));
      expect(said(verb, input as Input, revision)(armed)).toEqual({ text, tone: 'plain' });
    },
  );

  test('is described without details if there are no earlier entries', () => {
    const armed = (verb: string) => entrySentences()(runEntry('a', 'intent.armed', mark(verb))).text;
    expect(armed('createBackup')).toBe('sending POST /backups');
    expect(armed('restoreBackup')).toBe('sending the request to restore the backup');
  });

  test('names the instance in whose ledger it is', () => {
    const entry = { ...runEntry('a', 'intent.armed', mark('restart')), stream: 'instance/orders' };
    expect(entrySentences()(entry).text).toBe('sending PATCH /restart to orders');
  });
});

describe('what became of a call', () => {
  const outcome = (more: object) =>
    said(
      'createBackup',
      {},
    )(runEntry('a', 'intent.outcome', { ...mark('createBackup'), sent: 'unknown', ...more }));
  const judged = (more: object) =>
    said(
      'createBackup',
      {},
    )(runEntry('a', 'intent.judged', { ...mark('createBackup'), verdict: 'ambiguous', ...more }));
  const request = 'the request to create a backup';

  test('is what the service answered, with the id that it named', () => {
    const output = { landed: true, id: 12, adopted: false };
    expect(outcome({ sent: 'landed', output })).toEqual({
      text: `the service accepted ${request}: backup 12`,
      tone: 'plain',
    });
    expect(outcome({ failure: { code: 'service.no-id', shortMessage: 'x' } })).toEqual({
      text: `the service accepted ${request} and named no id`,
      tone: 'plain',
    });
  });

  test.each([
    [{ failure }, `what became of ${request} is not known: no answer within 30 s`],
    [{ sent: 'absent', failure }, `${request} was never sent: no answer within 30 s`],
    [{ sent: 'absent', refused: true, failure }, `${request} was refused: no answer within 30 s`],
    [
      { refused: true, failure },
      `${request} was refused, and the service shows what it may have become: no answer within 30 s`,
    ],
  ])('needs attention unless it is an acceptance: %j', (more, text) => {
    expect(outcome(more)).toEqual({ text, tone: 'warn' });
  });

  test('is what the service shows about it, and nothing more', () => {
    expect(judged({ verdict: 'landed', output: { landed: true, id: 12, adopted: true } })).toEqual({
      text: `the service shows that ${request} arrived: backup 12`,
      tone: 'good',
    });
    expect(judged({ verdict: 'absent' }).text).toBe(`the service shows that nothing came of ${request}`);
    expect(judged({ failure })).toEqual({
      text: `the service does not show what became of ${request}: no answer within 30 s`,
      tone: 'warn',
    });
  });
});

describe('the event that moved a run', () => {
  const event = (type: string, more: object) =>
    said(
      'createBackup',
      {},
    )(
      runEntry('a', 'event', {
        event: { type: `xstate.${type}.actor.act`, ...more },
        to: 'backup.waiting',
        title: 'waiting for the backup',
      }),
    ).text;

  test('is what was done, and what comes next', () => {
    expect(event('done', { output: { landed: true, id: 12, adopted: false } })).toBe(
      'asked for a backup; next: waiting for the backup',
    );
    expect(event('error', { error: failure })).toBe(
      'failed to create a backup: no answer within 30 s; next: waiting for the backup',
    );
  });

  test('does not count a request in doubt as failed', () => {
    const error = { code: 'doubt.unreadable', shortMessage: 'the answer was lost' };
    expect(event('error', { error })).toBe(
      'what became of the request to create a backup is not known: the answer was lost; ' +
        'next: waiting for the backup',
    );
  });

  test('does not count a request without effect as done', () => {
    expect(event('done', { output: { landed: false } })).toBe(
      'nothing came of the request to create a backup; next: waiting for the backup',
    );
  });

  test('says that nobody approved in time', () => {
    const body = { event: { type: 'approval.expired' }, to: 'approve.asking', title: 'waits for approval' };
    expect(entrySentences()(runEntry('a', 'event', body))).toMatchObject({
      text: 'nobody approved it in time; next: waits for approval',
      tone: 'warn',
    });
  });
});
