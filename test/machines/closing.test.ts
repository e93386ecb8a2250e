import { expect, test } from 'vitest';
import { closingOfRotation as closingOf } from '../../machines/closing/rotation.ts';
import type { RunContext } from '../../machines/context.ts';
import { outcomesOf } from './outcomes.ts';
import { startingContext } from './starting-context.ts';

function outputOf<T>(verb: string): T {
  const [first] = outcomesOf(verb);
  if (first === undefined || !('output' in first)) throw new Error(`${verb} has no output`);
  return first.output as T;
}

/** A rotation whose change of the key got that answer. */
function rotated(setting: NonNullable<RunContext['key']['setting']>): RunContext {
  const key = { isWanted: false, stored: outputOf<RunContext['key']['stored']>('storeKey'), setting };
  return { ...started, key };
}

const started = startingContext({ instance: 'orders' }, 'rotate-key');
const proven = {
  backup: { intents: 1, absences: 0, send: { is: 'landed' as const, id: 4, adopted: false } },
  proof: {
    verification: outputOf<NonNullable<RunContext['proof']['verification']>>('verifyBackup'),
    negative: { tested: ['aaaaaaaaaaaa'], opened: [] },
  },
  record: { isProven: true },
};

const keyChangeOf = (context: RunContext, state: string) =>
  closingOf(context, state)
    .summary.flatMap(({ facts }) => facts)
    .find(({ label }) => label === 'key change');

test('a lost answer is uncertain until a backup shows what became of it', () => {
  const lost = rotated({ answer: 'unknown' });
  expect(keyChangeOf(lost, 'stopped')).toMatchObject({ value: 'answer lost: KEY UNCERTAIN', tone: 'warn' });
  expect(keyChangeOf({ ...lost, ...proven }, 'done')).toMatchObject({
    value: 'answer lost; backup 4 shows that it was made',
    tone: 'good',
  });
});

test('a stopped run says how far the change had come', () => {
  const titles = [started, rotated({ answer: 'unknown' }), rotated({ answer: 'accepted' })].map(
    (context) => closingOf(context, 'stopped').title,
  );
  expect(titles).toEqual([
    'stopped before the key was changed',
    'stopped while it is uncertain which key is in force; both are kept',
    'stopped after the key was changed; the new key is kept and not yet proven',
  ]);
});

test('what was done outside or skipped is among the deviations of a proven run', () => {
  const outside = rotated({ answer: 'unknown', outside: 'in the dashboard' });
  const closing = closingOf(
    { ...outside, ...proven, skipped: [{ step: 'oldBackup', reason: 'proven yesterday' }] },
    'done',
  );
  expect(closing).toMatchObject({ outcome: 'done', proven: true });
  expect(closing.deviations).toEqual([
    { step: 'oldBackup', reason: 'proven yesterday' },
    { step: 'change', reason: 'done outside: in the dashboard' },
  ]);
});

test('a proof without an old key to try says so', () => {
  const closing = closingOf(
    {
      ...rotated({ answer: 'accepted' }),
      ...proven,
      proof: { ...proven.proof, negative: { tested: [], opened: [] } },
    },
    'done',
  );
  expect(closing.deviations).toEqual([
    { step: 'negative', reason: 'no other key of this instance is held here, so none could be tried' },
  ]);
});

test('a rotation names the key that is to be retired later', () => {
  const leaves = ['retire key aaaaaaaaaaaa of orders when no retained backup needs it'];
  const record = { isProven: true, leaves };
  expect(closingOf({ ...rotated({ answer: 'accepted' }), ...proven, record }, 'done')).toMatchObject({
    leaves,
  });
  expect(closingOf({ ...rotated({ answer: 'accepted' }), ...proven }, 'done')).not.toHaveProperty('leaves');
});
