import type { RunContext } from '../context.ts';
import type { Closing } from '../parts/runbook.ts';

/** Whether the service of a run has said that it is simulated: there is no data behind it. */
function isSimulated({ preflight, backup, restore, available }: RunContext): boolean {
  const facts = [preflight.facts, backup.backup, restore.restore, available.ready];
  return facts.some((fact) => fact?.simulated === true);
}

/** The closing of a run: one on a simulated service has come to its end, and proves nothing. */
export function unlessSimulated(context: RunContext, closing: Closing): Closing {
  if (!isSimulated(context)) return closing;
  if (!closing.proven) return { ...closing, simulated: true };
  const title = 'came to its end on a simulated service, so nothing is proven';
  return { ...closing, proven: false, title, simulated: true };
}
