import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditVerify } from '../../src/audit/audit.ts';
import { verdictOf } from '../../src/audit/audit-verdict.ts';
import { listRuns } from '../../src/runner/runs.ts';
import { openForReading } from '../../src/store/open-for-reading.ts';
import { runEntry } from '../../src/store/run-entries.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';
import { temporaryHome } from '../store/temporary-home.ts';
import { openSealed } from './sealed-journal.ts';

const RUN = '01K0000000000000000000000A';
const STREAM = `run/${RUN}` as const;

const started = runEntry(RUN, 'run.started', {
  runbook: 'rotate-key',
  version: '1',
  instance: 'orders',
  input: {},
  mode: 'LIVE',
  tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
  operator: 'Robin',
});
const note = { stream: STREAM, type: 'note', body: null } as const;
const closed = (proven: boolean) =>
  runEntry(RUN, 'run.closed', {
    outcome: 'done',
    proven,
    title: `proven ${proven}`,
    summary: [],
    deviations: [],
  });
const later = {
  stream: 'instance/orders',
  type: 'key.added',
  body: { fingerprint: '0a1b2c3d4e5f' },
} as const;

/** A home whose every entry is signed, and what somebody without the key then appends, correctly chained. */
async function appended(before: readonly object[], after: readonly object[], isClosed = false) {
  const { home, journal, sealer, close } = await openSealed();
  for (const entry of before) await journal.append([entry as typeof note]);
  if (isClosed) await sealer.sealNow(STREAM, 'closed');
  await close();
  const forger = await openSqliteJournal({ home, by: 'tester' });
  for (const entry of after) await forger.append([entry as typeof note]);
  await forger.close();
  return { home, report: await auditVerify({ home }) };
}

const said = ({ findings }: { readonly findings: readonly object[] }) =>
  findings.map((finding) => {
    const { severity, stream, code, shortMessage } = finding as Record<string, string>;
    return `${severity} ${code} ${stream}: ${shortMessage}`;
  });

test('entries behind the last signed head are named, and the verdict holds up to there only', async () => {
  const { report } = await appended([started, note], [note, closed(true)]);
  expect(report.ok).toBe(true);
  const words = `entries 3 to 4 of ${STREAM} are not signed: whoever could write here could have added them`;
  expect(said(report)).toEqual([`warning stream.unsigned ${STREAM}: ${words}`]);
  expect(verdictOf(report)).toBe(`nothing was changed, removed or reordered within these limits: ${words}`);
});

test('the same of a ledger, and of a single entry', async () => {
  const { report } = await appended([later], [later]);
  expect(said(report)).toEqual([
    'warning stream.unsigned instance/orders: entry 2 of instance/orders is not signed: whoever could write here could have added it',
  ]);
});

test('a record that is signed to its end has no limit', async () => {
  const { report } = await appended([started, closed(true)], [], true);
  expect(verdictOf(report)).toBe('nothing was changed, removed or reordered');
});

test('a closed run without any signed head is told to be unsigned as a whole', async () => {
  const { home } = await appended([started, closed(true)], [], true);
  rmSync(join(home, 'checkpoints', STREAM), { recursive: true });
  const report = await auditVerify({ home });
  expect(report.ok).toBe(true);
  expect(verdictOf(report)).toContain(`within these limits: ${STREAM} has no valid checkpoint`);
});

test.each([
  ['another close', closed(true)],
  ['a moved clock', runEntry(RUN, 'clock.moved', { seconds: -600 })],
  ['a step', note],
  ['an end of another kind', runEntry(RUN, 'run.abandoned', { reason: 'x' })],
])('%s behind the end of a run is a problem', async (_what, more) => {
  for (const isClosed of [false, true]) {
    const { report } = await appended([started, closed(false)], [more], isClosed);
    expect(said(report)).toContainEqual(
      expect.stringContaining(
        `problem run.after-end ${STREAM}: entry 3 (${more.type}) stands behind the end`,
      ),
    );
  }
});

test('what a process writes that takes a run up while it ends is none', async () => {
  const resumed = runEntry(RUN, 'run.resumed', { pid: 7 });
  const { report } = await appended([started, closed(false), resumed], [], true);
  expect(report.findings).toEqual([]);
});

test('the outcome of a run is that of its first close, whatever follows', async () => {
  const { home } = await appended([started, closed(false)], [closed(true)]);
  const journal = await openForReading({ home });
  const [run] = await listRuns(journal);
  await journal.close();
  expect(run).toMatchObject({ status: 'closed', proven: false, where: 'proven false' });
});

test('a run that was given up stays so when a close is put behind it', async () => {
  const { home } = await appended([started, runEntry(RUN, 'run.abandoned', { reason: 'x' })], [closed(true)]);
  const journal = await openForReading({ home });
  const [run] = await listRuns(journal);
  await journal.close();
  expect(run).toMatchObject({ status: 'abandoned', proven: false });
});

test('a journal that was written anew and signed with another key is betrayed by the heads in a further folder', async () => {
  const folder = temporaryHome();
  const written = async (words: string) => {
    const { home, journal, sealer, signer, close } = await openSealed({ folders: [folder] });
    await journal.append([{ ...note, body: words }, later]);
    await sealer.sealNow(STREAM, 'closed');
    await close();
    return { home, signer };
  };
  const first = await written('as it was');
  expect((await auditVerify({ home: first.home, folders: [folder] })).findings).toEqual([]);
  const forged = await written('as it was not');
  for (const { home, signer } of [first, forged]) {
    const report = await auditVerify({ home, folders: [folder], publicKey: signer.publicKey });
    expect(said(report)).toEqual([
      expect.stringMatching(
        /^problem checkpoint\.other-key run\S+ entry 1 is not the one that another key has signed/u,
      ),
    ]);
  }
});

test('another installation that shares the folder and the instance accuses nobody', async () => {
  const folder = temporaryHome();
  for (const run of ['a', 'b']) {
    const { home, journal, sealer, close } = await openSealed({ folders: [folder] });
    await journal.append([{ stream: `run/${run}`, type: 'note', body: null }, later]);
    await sealer.sealNow(`run/${run}`, 'closed');
    await sealer.sealNow('instance/orders', 'closed');
    await close();
    expect((await auditVerify({ home, folders: [folder] })).findings).toEqual([]);
  }
});
