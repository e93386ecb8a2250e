import { expect, test } from 'vitest';
import { drive } from './drive.ts';
import type { Outcome } from './outcomes.ts';
import { failure, outcomesOf } from './recovery-outcomes.ts';

const OTHER = 'dddddddddddd';
const PERFORM = { mode: 'perform', target: 'orders-dr' };
const record = (outcomesOf('readCard')[0] as { output: { card: { fingerprint: string } } }).output;
const known = record.card.fingerprint;

/** A recovery that asks which key the backup was made with. */
function askedForKey(given: Readonly<Record<string, Outcome[]>> = {}, input = {}) {
  const run = drive('disaster-recovery', { ...PERFORM, ...input }, given);
  for (let steps = 0; run.state() !== 'source.choosingKey' && steps < 3; steps += 1) run.goOn();
  expect(run.state()).toBe('source.choosingKey');
  return run;
}

function enter(run: ReturnType<typeof drive>, fingerprint: string) {
  run.answer({ type: 'operator.enterKey' });
  const question = run.question();
  run.answer({ type: 'operator.provideKey', fingerprint, length: 5 });
  expect(run.state()).toBe('confirm.asking');
  return question;
}

const stored = (fingerprint: string): Outcome => ({ output: { fingerprint, length: 5, store: 'vault' } });

test('the confirmation with the recorded key, which has opened a backup, has no warning', () => {
  const run = askedForKey();
  run.answer({ type: 'operator.useKey', fingerprint: known });
  expect(run.question()?.prompt).toMatch(/^type the name of the TARGET to recover /u);
});

test('the confirmation says that the entered key is not the recorded one', () => {
  const run = askedForKey({ storeKey: [stored(OTHER)] });
  expect(enter(run, OTHER)).toMatchObject({ prompt: expect.stringContaining(known), twice: false });
  expect(run.question()?.prompt).toContain(
    `key ${OTHER} is not the one on record (${known}): type the name of`,
  );
});

test('without a recorded key it is entered twice, and the confirmation says that it never opened a backup', () => {
  const none = { output: { proven: [], keysHeld: [] } };
  const run = askedForKey({ readCard: [none], storeKey: [stored(OTHER)] }, { backup: 'G'.repeat(12) });
  expect(enter(run, OTHER)).toMatchObject({ kind: 'secret', twice: true });
  expect(run.question()?.prompt).toContain(`key ${OTHER} was never proven to open a backup of orders`);
});

test('another key can be chosen at the confirmation, also after a restore has failed with the first', () => {
  const run = askedForKey({ storeKey: [stored(OTHER)], waitForRestore: [failure('restore.failed')] });
  enter(run, OTHER);
  const change = () => {
    run.answer({ type: 'operator.back' });
    expect(run.state()).toBe('source.choosingKey');
    expect(run.question()?.options.find((one) => one.recommended)?.event).toEqual({
      type: 'operator.useKey',
      fingerprint: known,
    });
    run.answer({ type: 'operator.useKey', fingerprint: known });
    expect(run.state()).toBe('confirm.asking');
  };
  change();
  run.answer({ type: 'operator.confirm', typed: 'orders-dr' });
  expect(run.state()).toBe('restore.broken');
  run.answer({ type: 'operator.retry' });
  change();
  run.answer({ type: 'operator.confirm', typed: 'orders-dr' });
  expect(run.sent.filter(({ verb }) => verb === 'performRecovery')).toHaveLength(2);
  expect(run.context().source.from?.fingerprint).toBe(known);
});
