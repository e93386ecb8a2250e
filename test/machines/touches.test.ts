import { expect, test } from 'vitest';
import { initialContext, type RunContext } from '../../machines/context.ts';
import { allRunbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { RUNBOOK_IDS, type RunbookId, replacesData, touchesOf } from '../../machines/parts/touches.ts';
import { callsOf, effectsOf } from './effects.ts';
import { INPUTS } from './inputs.ts';

/** Held below against the verbs that restore. */
const RESTORES = new Set(['/backups/:id/restore', '/pitr/restore', '/disaster-recovery/perform']);

const BOTH = { target: 'orders-dr', mode: 'both' };
const CASES = RUNBOOK_IDS.flatMap((id) =>
  [...INPUTS[id], ...(id === 'disaster-recovery' ? [BOTH] : [])].map((more) => ({
    id,
    input: { instance: 'orders', ...more },
    named: JSON.stringify(more),
  })),
);

/** A run with this input that passes all that the input leaves open. */
function contextOf(id: RunbookId, input: { readonly instance: string }): RunContext {
  return { ...initialContext(id, input), key: { isWanted: true } };
}

test.each(CASES)('what $id $named touches is what its states call', ({ id, input }) => {
  const runbook = allRunbooks.find((one) => one.id === id) as Runbook;
  const calls = callsOf(runbook, contextOf(id, input));
  const done = (side: 'instance' | 'target') => {
    const here = calls.filter(({ on }) => (on ?? 'instance') === side);
    const changing = here.filter(({ method }) => method !== 'GET');
    if (changing.some(({ path }) => RESTORES.has(path))) return 'replaced';
    return changing.length > 0 ? 'changed' : here.length > 0 ? 'read' : 'not-called';
  };
  const { source, target } = runbook.touches(input);
  expect({ source, target }).toEqual({
    source: done('instance'),
    target: done('target') === 'not-called' ? 'none' : done('target'),
  });
});

test.each(CASES)('$id $named has states that replace data exactly where it says so', ({ id, input }) => {
  const runbook = allRunbooks.find((one) => one.id === id) as Runbook;
  const restores = effectsOf(runbook, contextOf(id, input)).has('restore');
  expect(replacesData(runbook.touches(input))).toBe(restores);
});

test('what an unknown runbook touches is unknown', () => {
  expect(touchesOf('fork-instance', {})).toBeUndefined();
  expect(touchesOf('toString', undefined)).toBeUndefined();
});
