import type { PlannedCall, Runbook } from '../../machines/parts/runbook.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import { fold } from '../runner/fold.ts';
import { describeOperation, operationAt } from '../service/revisions.ts';
import { metaAt } from '../view/build-run-view.ts';
import type { Sites } from './sites.ts';

/** Rejects, with exit 2, a run with a call that the instance's revision does not have: it could be begun and never be ended. */
export function refuseUnsupported(
  runbook: Runbook,
  sites: Pick<Sites, 'instance' | 'target'>,
  input: unknown,
): void {
  for (const state of pathOf(runbook, input)) {
    for (const call of metaAt(runbook, state)?.calls ?? []) refuseCall(runbook, sites, call);
  }
}

/** The states that a run with this input passes without trouble, in order. */
export function pathOf(runbook: Runbook, input: unknown): readonly string[] {
  const { snapshot } = fold(runbook, input, []);
  return runbook.pathOf?.(snapshot.context as never) ?? runbook.mainPath;
}

function refuseCall(
  runbook: Runbook,
  { instance, target }: Pick<Sites, 'instance' | 'target'>,
  { method, path, on, optional }: PlannedCall,
): void {
  const { name, service } = on === 'target' ? (target ?? instance) : instance;
  const operation = operationAt(method, path);
  if (optional === true || operation === undefined || service.supports(operation)) return;
  const { words } = describeOperation(operation);
  throw new LifeboatError(
    'run.unsupported',
    `${runbook.id} cannot be walked on ${name}: its service cannot ${words}`,
    {
      hints: ['nothing was sent', 'if the service is another one, set `revision` of the instance'],
      evidence: { cannot: words },
      exitCode: EXIT.usage,
    },
  );
}
