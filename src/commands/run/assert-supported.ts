import { runbooks } from '../../../machines/index.ts';
import type { PlannedCall, Runbook } from '../../../machines/parts/runbook.ts';
import { mainPathOf, metaAt } from '../../../machines/parts/states.ts';
import { EXIT, failureOf, LifeboatError } from '../../base/errors.ts';
import type { RunInstances } from '../../compose/instances.ts';
import { fold } from '../../runner/fold.ts';
import { type Callable, operationAt } from '../../service/revisions.ts';

/** The instance that a call goes to, as far as it shows what can be run on it. */
type Callee = Pick<RunInstances['instance'], 'name' | 'service'>;

interface Lacking {
  readonly callee: Callee;
  readonly call: PlannedCall;
  readonly operation: Callable;
}

/**
 * Rejects (exit 2) a run with a call that the instance's revision lacks: it could begin and never end. Names
 * the first such call that changes something: that is what the run is for.
 */
export function assertSupported(
  runbook: Runbook,
  instances: { readonly instance: Callee; readonly target: Callee | undefined },
  input: unknown,
): void {
  const lacking = lackingOn(runbook, instances, pathOf(runbook, input));
  const found = lacking.find(({ call }) => call.method !== 'GET') ?? lacking[0];
  if (found === undefined) return;
  const { callee, call, operation } = found;
  const able = runnableOn(callee);
  throw new LifeboatError(
    'run.unsupported',
    `${runbook.id} cannot be run on ${callee.name}: ${whyNot(callee, operation)} (${call.method} …${call.path})`,
    {
      hints: [
        'nothing was sent',
        ...(able.length === 0 ? [] : [`what can be run on ${callee.name}: ${able.join(', ')}`]),
        'if the service has another revision, set `revision` of the instance',
      ],
      evidence: { operation },
      exitCode: EXIT.usage,
    },
  );
}

/** The runbooks that need no call which the instance's revision lacks. */
export function runnableOn(callee: Callee): readonly string[] {
  return Object.values(runbooks)
    .filter(
      (one) => lackingOn(one, { instance: callee, target: callee }, mainPathOf(one.machine)).length === 0,
    )
    .map(({ id }) => id);
}

/** The states that a run with this input passes without trouble, in order. */
export function pathOf(runbook: Runbook, input: unknown): readonly string[] {
  const { snapshot } = fold(runbook, input, []);
  return mainPathOf(runbook.machine, snapshot.context);
}

/** The calls on a path that a run cannot do without and the revision does not have. */
function lackingOn(
  runbook: Runbook,
  { instance, target }: { readonly instance: Callee; readonly target: Callee | undefined },
  path: readonly string[],
): Lacking[] {
  return path
    .flatMap((state) => metaAt(runbook.machine, state)?.calls ?? [])
    .flatMap((call) => {
      const operation = operationAt(call.method, call.path);
      const callee = call.on === 'target' ? (target ?? instance) : instance;
      if (call.optional === true || operation === undefined || callee.service.supports(operation)) return [];
      return [{ callee, call, operation }];
    });
}

/** As the call's own refusal: `interface v0 of the service cannot restart the instance`. */
function whyNot({ service }: Callee, operation: Callable): string {
  try {
    service.require(operation);
  } catch (thrown) {
    return failureOf(thrown).shortMessage;
  }
  return 'its service does not have the call';
}
