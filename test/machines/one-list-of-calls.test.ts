import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RunContext } from '../../machines/context.ts';
import { TARGET_KEY_CALL } from '../../machines/fallback/follow-ups.ts';
import { allRunbooks } from '../../machines/index.ts';
import { type RunInput, SingleChange } from '../../machines/inputs.ts';
import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { fallbackOf, isFinalAt, leavesOf, metaAt } from '../../machines/parts/states.ts';
import type { RunbookId } from '../../machines/parts/touches.ts';
import { startingContext } from './starting-context.ts';

/** Every kind of run that a runbook can be. */
const INPUTS: Readonly<Record<string, readonly Partial<RunInput>[]>> = {
  'disaster-recovery': (['both', 'prepare', 'perform'] as const).map((mode) => ({
    mode,
    ...(mode === 'prepare' ? {} : { target: 'orders-dr' }),
  })),
  'change-instance': (['restart', 'recreate', 'update'] as const).map((action) => ({ action })),
  'single-change': SingleChange().shape.change.options.flatMap((change) =>
    [true, false].map((setsKey) => ({
      ...(['restart', 'recreate', 'update'].includes(change) ? { action: change as 'restart' } : {}),
      single: {
        change,
        wait: true,
        setsKey,
        settings: { retentionDays: 7 },
        setting: { type: 'general', allowed: false },
      },
    })),
  ),
};

type Call = Pick<PlannedCall, 'method' | 'path'> & { readonly on?: string | undefined };
const named = ({ on = 'instance', method, path }: Call) => `${on} ${method} ${path}`;

function plannedIn({ machine }: Runbook): readonly PlannedCall[] {
  return leavesOf(machine).flatMap((state) => metaAt(machine, state)?.calls ?? []);
}

/** What a run may know: a new key is wanted or not, and there is a recovery card or none. */
const KNOWN = [
  {},
  { key: { isWanted: true } },
  { card: { onRecord: { card: { proven: [] }, proven: [] } } },
] as unknown as readonly Partial<RunContext>[];

/** The situations of a run, at each of its states. */
function* situations({ id, machine }: Runbook): Generator<readonly [RunContext, string]> {
  for (const input of INPUTS[id] ?? [{}])
    for (const known of KNOWN)
      for (const state of leavesOf(machine)) {
        if (isFinalAt(machine, state)) continue;
        const context = startingContext({ instance: 'orders', ...input } as RunInput, id as RunbookId);
        yield [{ ...context, ...known }, state];
      }
}

function writtenIn(runbook: Runbook): ReadonlySet<string> {
  const written = new Set<string>();
  for (const [context, state] of situations(runbook))
    for (const { actions } of fallbackOf(runbook.machine, context, state))
      for (const action of actions) if (action.do === 'call') written.add(named(action));
  return written;
}

describe.for(allRunbooks)('the calls of $id', (runbook) => {
  const planned = plannedIn(runbook);

  test('includes all calls that its fallback script makes', () => {
    const all = new Set(planned.map(named));
    const unplanned = [...writtenIn(runbook)].filter((call) => !all.has(call));
    expect(unplanned).toEqual(runbook.id === 'disaster-recovery' ? [named(TARGET_KEY_CALL)] : []);
  });

  test('that change something are all in its fallback script', () => {
    const written = writtenIn(runbook);
    const changes = planned.filter(({ method }) => method !== 'GET').map(named);
    expect(changes.filter((call) => !written.has(call))).toEqual([]);
  });

  test('that must not be repeated are looked for in the list that is planned before them', () => {
    const lists = new Set(['/backups', '/restores', '']);
    for (const [context, state] of situations(runbook))
      for (const { actions } of fallbackOf(runbook.machine, context, state))
        for (const action of actions)
          if (action.do === 'call' && action.once !== undefined) {
            const { path, once } = action;
            expect(lists, `${state}: ${path}`).toContain(once.list);
            const isTask = /^\/(?:backups|pitr|disaster-recovery)/u.test(path);
            expect(once.list !== '', `${state}: ${path}`).toBe(isTask);
          }
  });
});

test('no part of the fallback script names a method and a path itself, except for the call that no run makes', () => {
  const folder = new URL('../../machines/fallback/', import.meta.url);
  const naming = readdirSync(folder).flatMap((file) =>
    [...readFileSync(new URL(file, folder), 'utf8').matchAll(/\b(?:method|path): '/gu)].map(() => file),
  );
  expect(naming).toEqual(['follow-ups.ts', 'follow-ups.ts']);
});
