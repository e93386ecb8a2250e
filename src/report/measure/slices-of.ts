import type { Runbook, StateMeta, TimeSlice } from '../../../machines/parts/runbook.ts';
import { leavesOf, nodesAt } from '../../../machines/parts/states.ts';

type Meta = Partial<StateMeta<unknown, never>> | undefined;

/**
 * In which slice of a recovery's time a state passes, by what the machine says of it: a question is human
 * time, whatever else it says. Undefined for a runbook that recovers nothing.
 */
export function slicesOf(
  runbook: Pick<Runbook, 'machine'>,
): ((state: string) => TimeSlice | undefined) | undefined {
  const states = leavesOf(runbook.machine).map((state) => {
    const [phase, ...inner] = nodesAt(runbook.machine, state).map(({ meta }) => meta as Meta);
    const { question, slice = phase?.slice } = inner.at(-1) ?? phase ?? {};
    return [state, question === undefined ? slice : 'human'] as const;
  });
  const slices = new Map(states);
  if (!states.some(([, slice]) => slice === 'execute' || slice === 'queue')) return undefined;
  return (state) => slices.get(state);
}
