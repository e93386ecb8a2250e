import { expect, test } from 'vitest';
import type { Json, NewEntry } from '../../../src/store/journal.ts';
import { readSigned } from '../../../src/store/projections/signers.ts';
import { journalOf, readerOf } from './generated-entries.ts';

const keyOf = (digit: string) => `SHA256:${digit.repeat(43)}`;
const [ANN, BEN] = [keyOf('a'), keyOf('b')];

const given = (stream: NewEntry['stream'], body: Json): NewEntry => ({
  stream,
  type: 'approval.given',
  body,
});

test('the last approval by each key is known, in whichever run, and nothing from other entries', async () => {
  const entries = journalOf([
    given('run/A', { key: ANN, approver: 'ann' }),
    given('run/A', { key: BEN, approver: 'ben' }),
    given('run/B', { key: ANN, approver: 'ann@example.com' }),
    given('instance/orders', { key: BEN, approver: 'nobody' }),
    given('run/B', { key: 'SHA256:short', approver: 'nobody' }),
    given('run/B', { key: BEN, approver: 7 }),
    { stream: 'run/B', type: 'approval.withdrawn', body: { key: BEN, approver: 'nobody' } },
  ]);
  const at = (index: number) => entries[index]?.at;
  const signed = await readSigned(readerOf(entries));
  expect(signed.toSorted((one, other) => one.key.localeCompare(other.key))).toEqual([
    { key: ANN, approver: 'ann@example.com', at: at(2) },
    { key: BEN, approver: 'ben', at: at(1) },
  ]);
});
