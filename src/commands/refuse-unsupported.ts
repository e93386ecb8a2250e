import type { Runbook } from '../../machines/parts/runbook.ts';
import { EXIT, LifeboatError } from '../errors.ts';
import { describeOperation, operationAt } from '../service/revisions.ts';
import { metaAt } from '../view/build-run-view.ts';
import type { OpenInstance } from './service-of.ts';

/** Rejects, with exit 2, a runbook with a call that the instance's revision does not have: a run could be begun and never be ended. */
export function refuseUnsupported(runbook: Runbook, { name, service }: OpenInstance): void {
  const calls = runbook.mainPath.flatMap((state) => metaAt(runbook, state)?.calls ?? []);
  const missing = calls.flatMap(({ method, path }) => {
    const operation = operationAt(method, path);
    return operation === undefined || service.supports(operation) ? [] : [describeOperation(operation).words];
  });
  const [first] = missing;
  if (first === undefined) return;
  throw new LifeboatError(
    'run.unsupported',
    `${runbook.id} cannot be walked on ${name}: its service cannot ${first}`,
    {
      hints: ['nothing was sent', 'if the service is another one, set `revision` of the instance'],
      evidence: { cannot: [...new Set(missing)] },
      exitCode: EXIT.usage,
    },
  );
}
