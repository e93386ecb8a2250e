import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openPostgresForReading, openPostgresStore } from '../../../src/store/postgres/open.ts';
import { initPostgresStore } from '../../../src/store/postgres/schema.ts';
import { addressOf, type Pair, startPair } from '../../bench-kit/postgres.ts';
import { NOTES } from '../contract/projection.ts';
import { note } from '../contract/store-under-test.ts';
import { freshSigner } from '../fresh-signer.ts';

/* A store whose primary is gone, while its standby answers. */
let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair?.remove());

const env = {};

test('a standby is named, with what is safe to do, and is used once it is the primary', async () => {
  const { primary, standby } = pair;
  await primary.query('create database team');
  await initPostgresStore({ address: addressOf([primary.port], 'team'), env });
  const reading = { env, projections: NOTES, patience: 300 };
  const writing = { ...reading, by: 'x', signer: freshSigner() };
  const alone = addressOf([standby.port], 'team');
  const refused = {
    code: 'journal.unreachable',
    exitCode: 1,
    shortMessage: `the store cannot be reached: 127.0.0.1:${standby.port} is a standby, which takes no writes, and no other server of the address is the primary`,
    hints: [expect.stringContaining('name the primary'), expect.stringContaining('promote the standby only')],
  };
  await expect(openPostgresForReading({ ...reading, address: alone })).rejects.toMatchObject(refused);
  await expect(openPostgresStore({ ...writing, address: alone })).rejects.toMatchObject(refused);
  await expect(initPostgresStore({ address: alone, env })).rejects.toMatchObject(refused);

  const both = addressOf([primary.port, standby.port], 'team');
  await primary.crash();
  await expect(openPostgresStore({ ...writing, address: both })).rejects.toMatchObject(refused);
  await pair.promote();
  const journal = await openPostgresStore({ ...writing, address: both });
  onTestFinished(() => journal.close());
  await journal.append([note('one')], [await journal.hold('run/a')]);
});
