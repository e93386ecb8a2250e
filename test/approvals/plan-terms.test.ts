import { describe, expect, test } from 'vitest';
import { lineHash } from '../../src/approvals/allowed-signers.ts';
import { aroundOfPlan } from '../../src/commands/approvals/plan-terms.ts';
import type { Entry, Json, StreamName } from '../../src/store/journal.ts';
import { somePlan } from './plan-scene.ts';

const LISTED = [lineHash('bob'), lineHash('carol')];
const WHO = { name: 'Sam', email: 'sam@acme.com', login: 'sam1', host: 'h', config: '' };
const TOOL = { name: 'lifeboat', version: '0', node: 'v24' };
const BEGUN = { version: '1', instance: '-', mode: 'LIVE', operator: 'Sam', tool: TOOL };

function entry(stream: StreamName, seq: number, type: string, body: unknown): Entry {
  const at = '2026-11-21T03:00:00.000Z';
  return { stream, seq, at, by: 'host7', type, body: body as Json, index: seq, hash: '' };
}

/** A plan with one group, where a person skipped a step, and the step that shows it. */
function journalWith(children: readonly object[]) {
  const groups = [{ id: 'data', lanes: [{ name: 'orders' }], steps: [] }];
  const input = { plan: { plan: 'west' }, groups, source: 'up' };
  const approvals = { required: {}, signers: { sha256: '', lines: LISTED, people: [] } };
  const skip = { type: 'operator.skipStep', group: 'data', lane: 'orders', step: 'count', text: 'no psql' };
  const step = { id: 'go', kind: 'approve', approve: { quorum: 1, shows: ['data'] } };
  const streams: Readonly<Record<string, readonly Entry[]>> = {
    'run/PLAN': [
      entry('run/PLAN', 1, 'run.started', { ...BEGUN, runbook: 'plan', input, who: WHO, approvals }),
      entry('run/PLAN', 2, 'event', { event: { type: 'plan.evaluated', lanes: [] }, to: IN_GROUPS }),
      entry('run/PLAN', 3, 'event', { event: skip, to: IN_GROUPS }),
    ],
    'run/STEP': [
      entry('run/STEP', 1, 'run.started', {
        ...{ ...BEGUN, runbook: 'plan-step', operator: 'robot', input: { instance: '-', step } },
        plan: { run: 'PLAN', group: 'traffic', step: 'go', lane: '-', attempt: 1 },
      }),
    ],
  };
  return {
    read: async (stream: StreamName) => streams[stream] ?? [],
    rows: async () => children.map((value, at) => ({ key: `${at}`, sort: '', value }) as never),
  };
}

const IN_GROUPS = 'groups.data.waiting';
const child = (lane: string, step: string, attempt: number, more: object) => ({
  ...{ group: 'data', lane, step, attempt, run: 'PLAN', runbook: 'plan-step', isLeft: false, ...more },
});

describe('an approval in a step of a plan', () => {
  test('knows every recorded name of the person who started the plan, and who was listed then', async () => {
    const around = await aroundOfPlan(journalWith([]), { runId: 'STEP', runbook: 'plan-step' });
    expect(around.starter).toEqual(['host7', 'Sam', 'sam@acme.com', 'sam1']);
    expect(around.listed).toEqual(LISTED);
  });

  test('shows the last attempt of each step, what failed, what is still open, and what people passed', async () => {
    const journal = journalWith([
      child('orders', 'recover', 1, { result: 'failed', where: 'it was stopped' }),
      child('orders', 'recover', 2, { result: 'done' }),
      child('payroll', 'recover', 1, { result: 'failed', where: 'stopped at the target' }),
      child('stock', 'recover', 1, {}),
      { ...child('a', 'other', 1, { result: 'failed' }), group: 'services' },
    ]);
    const { shown } = await aroundOfPlan(journal, { runId: 'STEP', runbook: 'plan-step' });
    expect(shown).toEqual([
      'result of data: 1 step done, 1 not over, 1 failed: payroll recover (stopped at the target)',
      'decided by a person: data/orders/count: no psql',
    ]);
  });

  test('reads nothing outside of plans', async () => {
    const journal = { read: () => Promise.reject(new Error('read')), rows: async () => [] };
    const around = await aroundOfPlan(journal, { runId: 'R1', runbook: 'restore-backup' });
    expect(around).toEqual({ starter: [], listed: undefined, shown: [] });
  });
});

test('only those who were listed when the plan was started can approve a step of it', async (context) => {
  const at = await somePlan(context, 'step', { quorum: 1 }, undefined, ({ carol }) => [carol]);
  expect(await at.sign(at.people.bob)).toMatchObject({
    code: 'approval.refused',
    shortMessage: expect.stringContaining('was not in the file of allowed signers when'),
  });
  expect(await at.sign(at.people.carol)).toBeUndefined();
});
