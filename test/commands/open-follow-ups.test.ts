import { expect, onTestFinished, test } from 'vitest';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { rowOf } from '../../src/commands/followups/followups.ts';
import { followUpsOfRun, gatherFollowUps, type OpenFollowUp } from '../../src/compose/open-follow-ups.ts';
import { appendHolding } from '../../src/runner/holds.ts';
import { abandonRun, findRun, startRun } from '../../src/runner/runs.ts';
import type { Journal } from '../../src/store/journal.ts';
import { openIn } from '../store/open-in.ts';
import { temporaryHome } from '../store/temporary-home.ts';

const restore = runbooks['restore-backup'] as Runbook;
const RESTORED = { activity: 'restore', verb: 'restoreBackup', kind: 'once', key: 'intent-1', input: null };

async function openHome(): Promise<Journal> {
  const journal = await openIn(temporaryHome());
  onTestFinished(() => journal.close());
  return journal;
}

async function begin(journal: Journal, runbook: Runbook, verb = RESTORED): Promise<string> {
  const runId = await startRun(journal, {
    runbook,
    instance: 'orders',
    input: { instance: 'orders' },
    mode: 'LIVE',
    operator: 'tester',
    tool: { name: 'lifeboat', version: '0', node: 'v24' },
  });
  await appendHolding(journal, [{ stream: `run/${runId}`, type: 'activity.begun', body: verb }]);
  return runId;
}

/** An entry that no machine of this version can have written. */
function foreignEvent(runId: string) {
  const body = { event: { type: 'operator.stop' }, to: 'a-state-of-another-version' };
  return { stream: `run/${runId}`, type: 'event', body } as const;
}

test('a run of another version of its runbook has one follow-up: to find out what it leaves to do', async () => {
  const journal = await openHome();
  const runId = await begin(journal, { ...restore, version: '99' });
  expect(await gatherFollowUps(journal)).toMatchObject([
    { instance: 'orders', followUp: { id: 'unread-run', subject: runId }, run: { runId } },
  ]);
});

test('a follow-up that names no owner is owned by the person who began its run', async () => {
  const journal = await openHome();
  await begin(journal, { ...restore, version: '99' });
  const [found] = await gatherFollowUps(journal);
  expect(found?.run?.by).toBe('tester');
  expect(rowOf(found as OpenFollowUp, new Date())).toMatchObject({ owner: 'tester' });
});

test('a run of a runbook that this version does not have has that follow-up too', async () => {
  const journal = await openHome();
  await begin(journal, { ...restore, id: 'constructor' });
  expect(await gatherFollowUps(journal)).toMatchObject([{ followUp: { kind: 'unread-run' } }]);
});

test('a run that its machine cannot replay has that follow-up too, and hides none of the others', async () => {
  const journal = await openHome();
  const runId = await begin(journal, restore);
  await appendHolding(journal, [foreignEvent(runId)]);
  const followUp = { id: 'rebind-shop', kind: 'rebind', subject: 'shop', what: 'bind shop', commands: [] };
  await appendHolding(journal, [{ stream: 'instance/shop', type: 'follow-up.opened', body: { followUp } }]);
  expect((await gatherFollowUps(journal)).map(({ followUp: { id } }) => id)).toEqual([
    'unread-run',
    'rebind-shop',
  ]);
});

test('the follow-up of a run that cannot be read stays open once the run is abandoned', async () => {
  const journal = await openHome();
  await begin(journal, { ...restore, version: '99' });
  const run = await findRun(journal);
  await abandonRun(journal, run, 'newer lifeboat', await followUpsOfRun(journal, run));
  expect(await gatherFollowUps(journal)).toMatchObject([
    { instance: 'orders', run: undefined, followUp: { kind: 'unread-run', subject: run.runId } },
  ]);
});

test('a run that has only read has no follow-ups, even of an unknown version', async () => {
  const journal = await openHome();
  await begin(journal, { ...restore, version: '99' }, { ...RESTORED, kind: 'read', verb: 'preflight' });
  expect(await gatherFollowUps(journal)).toEqual([]);
});

test('a follow-up of a kind that this version does not know is listed', async () => {
  const journal = await openHome();
  const followUp = { id: 'polish', kind: 'polish-brass', subject: 'bell', what: 'polish the bell' };
  await appendHolding(journal, [{ stream: 'instance/shop', type: 'follow-up.opened', body: { followUp } }]);
  expect(await gatherFollowUps(journal)).toMatchObject([{ followUp: { id: 'polish' } }]);
});
