import { initialContext, type RunContext } from '../../machines/context.ts';
import type { RunInput } from '../../machines/inputs.ts';
import type { RunbookId } from '../../machines/parts/touches.ts';

/** A run before its first event, of the runbook that takes this input where none is named. */
export function startingContext(input: RunInput, runbook: RunbookId = takerOf(input)): RunContext {
  return initialContext(runbook, input);
}

function takerOf({ mode, target, action, time }: RunInput): RunbookId {
  if (mode !== undefined || target !== undefined) return 'disaster-recovery';
  if (action !== undefined) return 'change-instance';
  return time === undefined ? 'restore-backup' : 'restore-point-in-time';
}
