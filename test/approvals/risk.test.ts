import { expect, test } from 'vitest';
import { createMachine } from 'xstate';
import * as z from 'zod';
import { initialContext } from '../../machines/context.ts';
import { runbooks, singleChange } from '../../machines/index.ts';
import type { Question } from '../../machines/parts/question.ts';
import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { leavesOf, mainPathOf, nodesAt } from '../../machines/parts/states.ts';
import { riskOf, riskOfVerb } from '../../src/commands/approvals/required.ts';

/** A confirmation by name, and the state that it leads to. */
function confirming(next: { readonly verb?: string; readonly calls?: readonly PlannedCall[] }): Runbook {
  const question = { kind: 'typed-name', event: 'operator.confirm' } as Question<never>;
  const machine = createMachine({
    id: 'small',
    initial: 'asking',
    states: {
      asking: {
        meta: { title: 'the last look', question: () => question },
        on: { 'operator.confirm': 'acting' },
      },
      acting: {
        meta: { title: 'acting', calls: next.calls ?? [] },
        ...(next.verb === undefined ? {} : { invoke: { id: 'act', src: next.verb } }),
      },
    },
  });
  return {
    ...{ id: 'small', title: 'small', version: '1', machine, input: z.unknown() },
    touches: () => ({ source: 'replaced', target: 'none', lost: 'chosen-backup' }),
    ...{ facts: () => [], failure: () => undefined, skipped: () => [] },
    closing: () => ({ outcome: 'done', proven: true, title: 'done', summary: [], deviations: [] }),
  };
}

const risk = (runbook: Runbook) => riskOf(runbook, mainPathOf(runbook.machine), 'asking');
const call = (path: string): PlannedCall => ({ method: 'POST', path, what: 'the change' });

test.each([
  ['restoreBackup', 'overwrites'],
  ['restoreToTime', 'overwrites'],
  ['performRecovery', 'overwrites'],
  ['restart', 'destructive'],
  ['recreate', 'destructive'],
  ['update', 'destructive'],
  ['setKey', 'destructive'],
  ['prepareRecovery', 'destructive'],
  ['dropDatabase', 'overwrites'],
])(
  'a confirmation that leads to %s has the same risk, whatever path the service gives that call: %s',
  (verb, is) => {
    expect(risk(confirming({ verb, calls: [call('/elsewhere')] }))).toBe(is);
    expect(risk(confirming({ verb, calls: [call('/pitr/restore')] }))).toBe(is);
    expect(risk(confirming({ verb }))).toBe(is);
  },
);

test('a confirmation that is not shown to be harmless counts as one that overwrites data', () => {
  expect(risk(confirming({}))).toBe('overwrites');
  expect(risk(confirming({ verb: 'recheck', calls: [call('/restart')] }))).toBe('overwrites');
  expect(risk(confirming({ verb: 'createBackup', calls: [call('/backups')] }))).toBe('overwrites');
});

test('each confirmation of each runbook has the risk of the call that it leads to', () => {
  const found = Object.values(runbooks).flatMap((runbook) => {
    const path = mainPathOf(runbook.machine);
    return path.flatMap((state) => {
      const is = riskOf(runbook as Runbook, path, state);
      return is === undefined ? [] : [`${runbook.id} ${state}: ${is}`];
    });
  });
  expect(found.toSorted()).toEqual([
    'change-instance confirm.asking: destructive',
    'disaster-recovery confirm.asking: overwrites',
    'disaster-recovery confirmKey.asking: destructive',
    'restore-backup confirm.asking: overwrites',
    'restore-point-in-time confirm.asking: overwrites',
    'rotate-key confirm.asking: destructive',
  ]);
});

test('every state with a risk is on the main path of a run, where confirmations are rated by what follows', () => {
  const hidden = Object.values(runbooks).flatMap(({ id, machine }) => {
    const path = new Set(mainPathOf(machine));
    return leavesOf(machine)
      .filter((state) => !path.has(state))
      .filter((state) =>
        nodesAt(machine, state)
          .at(-1)
          ?.invoke.some(({ src }) => riskOfVerb(String(src))),
      )
      .map((state) => `${id} ${state}`);
  });
  expect(hidden).toEqual([]);
});

test.each([
  ['createBackup', false, undefined],
  ['restoreBackup', false, 'overwrites'],
  ['restoreToTime', false, 'overwrites'],
  ['performRecovery', false, 'overwrites'],
  ['restart', false, 'destructive'],
  ['recreate', false, 'destructive'],
  ['update', false, 'destructive'],
  ['setKey', true, 'destructive'],
  ['prepareRecovery', true, 'destructive'],
  ['prepareRecovery', false, undefined],
  ['changeBackupSettings', false, undefined],
  ['changeUpdateSetting', false, undefined],
] as const)(
  'the command for %s, with a new key: %s, is confirmed with the risk %s',
  (change, setsKey, is) => {
    const single = {
      change,
      setsKey,
      wait: false,
      ...(change === 'changeBackupSettings' && { settings: {} }),
    };
    const context = initialContext('single-change', { instance: 'orders', single });
    const path = mainPathOf(singleChange.machine, context);
    const risks = path.flatMap((state) => riskOf(singleChange, path, state) ?? []);
    expect(risks).toEqual(is === undefined ? [] : [is]);
  },
);
