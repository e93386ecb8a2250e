import { expect, test } from 'vitest';
import { initialContext } from '../../machines/context.ts';
import { runbooks } from '../../machines/index.ts';
import type { Runbook } from '../../machines/parts/runbook.ts';
import { leavesOf, metaAt, nodesAt } from '../../machines/parts/states.ts';
import { RUNBOOK_IDS, type RunbookId, replacesData, touchesOf } from '../../machines/parts/touches.ts';
import { effectOf } from '../../machines/verbs.ts';
import { operationAt } from '../../src/service/revisions.ts';
import { INPUTS } from './inputs.ts';

const BOTH = { target: 'orders-dr', mode: 'both' };
const CASES = RUNBOOK_IDS.flatMap((id) =>
  [...INPUTS[id], ...(id === 'disaster-recovery' ? [BOTH] : [])].map((more) => ({
    id,
    input: { instance: 'orders', ...more },
    named: JSON.stringify(more),
  })),
);

/** The calls of every state that a run with this input may come to, as far as the input decides that. */
function callsOf({ machine }: Runbook, id: RunbookId, input: { readonly instance: string }) {
  const context = initialContext(id, input);
  const halves = nodesPassed({ ...context, key: { ...context.key, isWanted: true } });
  return leavesOf(machine)
    .filter((path) => halves(path))
    .flatMap((path) => metaAt(machine, path)?.calls ?? []);

  function nodesPassed(known: unknown) {
    return (path: string) => nodesAt(machine, path)[0]?.meta?.when?.(known) ?? true;
  }
}

test.each(CASES)('what $id $named touches is what its states call', ({ id, input }) => {
  const runbook = runbooks[id] as Runbook;
  const calls = callsOf(runbook, id, input);
  const done = (side: 'instance' | 'target') => {
    const here = calls.filter(({ on }) => (on ?? 'instance') === side);
    const changing = here.filter(({ method }) => method !== 'GET');
    if (changing.some(({ method, path }) => effectOf(operationAt(method, path) ?? '') === 'restore'))
      return 'replaced';
    return changing.length > 0 ? 'changed' : here.length > 0 ? 'read' : 'not-called';
  };
  const { source, target } = runbook.touches(input);
  expect({ source, target }).toEqual({
    source: done('instance'),
    target: done('target') === 'not-called' ? 'none' : done('target'),
  });
});

test.each(CASES)(
  'the states of $id $named that replace data are there exactly where it says so',
  ({ id, input }) => {
    const runbook = runbooks[id] as Runbook;
    const restores = callsOf(runbook, id, input).some(
      ({ method, path }) => effectOf(operationAt(method, path) ?? '') === 'restore',
    );
    expect(replacesData(runbook.touches(input))).toBe(restores);
  },
);

test('a runbook that this program does not have touches what nobody knows', () => {
  expect(touchesOf('fork-instance', {})).toBeUndefined();
  expect(touchesOf('toString', undefined)).toBeUndefined();
});
