import type { RunContext } from '../../machines/context.ts';
import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { leavesOf, metaAt, nodesAt } from '../../machines/parts/states.ts';
import { type Effect, effectOf } from '../../machines/verbs.ts';

/** The calls of every state of a runbook that a run with this context passes. */
export function callsOf({ machine }: Runbook, context: RunContext): readonly PlannedCall[] {
  return passed({ machine }, context).flatMap((path) => metaAt(machine, path)?.calls ?? []);
}

/** What the verbs of a runbook do, by their table; with a context, those that such a run passes. */
export function effectsOf({ machine }: Pick<Runbook, 'machine'>, context?: RunContext): ReadonlySet<Effect> {
  const verbs = passed({ machine }, context).flatMap((path) =>
    (nodesAt(machine, path).at(-1)?.invoke ?? []).map(({ src }) => String(src)),
  );
  return new Set(verbs.flatMap((verb) => effectOf(verb) ?? []));
}

function passed({ machine }: Pick<Runbook, 'machine'>, context: RunContext | undefined): readonly string[] {
  return leavesOf(machine).filter(
    (path) => context === undefined || (nodesAt(machine, path)[0]?.meta?.when?.(context) ?? true),
  );
}
