import { describe, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import * as z from 'zod';
import { runbooks } from '../../machines/index.ts';
import type { Question } from '../../machines/parts/question.ts';
import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { leavesOf, mainPathOf, nodesAt } from '../../machines/parts/states.ts';
import { effectOf, VERBS, type Verb } from '../../machines/verbs.ts';
import { failureOf } from '../../src/base/errors.ts';
import { riskOf, riskOfVerb } from '../../src/commands/approvals/required.ts';
import { assertSingleCallAllowed } from '../../src/commands/approvals/single-call-allowed.ts';
import type { LoadedConfig } from '../../src/config/loaded.ts';

const ONCE = (Object.keys(VERBS) as Verb[]).filter((verb) => VERBS[verb].kind === 'once');

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
  'a confirmation that leads to %s risks as much, whatever path the service gives that call: %s',
  (verb, is) => {
    expect(risk(confirming({ verb, calls: [call('/elsewhere')] }))).toBe(is);
    expect(risk(confirming({ verb, calls: [call('/pitr/restore')] }))).toBe(is);
    expect(risk(confirming({ verb }))).toBe(is);
  },
);

test('a confirmation of which nothing shows that it is harmless counts as one that overwrites data', () => {
  expect(risk(confirming({}))).toBe('overwrites');
  expect(risk(confirming({ verb: 'recheck', calls: [call('/restart')] }))).toBe('overwrites');
  expect(risk(confirming({ verb: 'createBackup', calls: [call('/backups')] }))).toBe('overwrites');
});

test('each confirmation of each runbook has the risk of what it leads to', () => {
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

test('a state that risks anything is on the path of a run, where confirmations are weighed by what follows', () => {
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

describe('a single command', () => {
  const config = {
    instances: { orders: { approval: 'required' } },
  } as unknown as LoadedConfig;
  const refusal = (verb: Verb, weight: 'changes' | 'destroys', breakGlass?: string) => {
    try {
      assertSingleCallAllowed(config, 'orders', { verb, weight }, breakGlass);
      return undefined;
    } catch (thrown) {
      return failureOf(thrown).hints.join('; ');
    }
  };

  test.each(ONCE.filter((verb) => effectOf(verb) !== 'backup'))(
    'that performs %s is refused without the second person, and names the runbook that asks for one',
    (verb) => {
      expect(refusal(verb, 'destroys')).toMatch(/^use the runbook, which asks for it: lifeboat run [a-z-]+ /);
      expect(refusal(verb, 'changes')).toBe(refusal(verb, 'destroys'));
      expect(refusal(verb, 'destroys', 'the data centre burns')).toBeUndefined();
    },
  );

  test('that makes a backup, changes a setting or prepares a recovery without a key needs nobody else', () => {
    const harmless = [
      'createBackup',
      'changeBackupSettings',
      'changeUpdateSetting',
      'prepareRecovery',
    ] as const;
    expect(harmless.map((verb) => refusal(verb, 'changes'))).toEqual(harmless.map(() => undefined));
  });

  test('that sets a key is refused, by whichever call', () => {
    expect(refusal('setKey', 'destroys')).toContain('lifeboat run rotate-key --instance orders');
    expect(refusal('prepareRecovery', 'destroys')).toContain('lifeboat run disaster-recovery --prepare');
  });
});
