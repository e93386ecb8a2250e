import type { Runbook } from '../../../machines/parts/runbook.ts';
import { metaAt } from '../../../machines/parts/states.ts';
import type { Risk } from '../../approvals/policy.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { needsApproval, riskOf } from './required.ts';

/** A confirmation that a second person has to approve. */
export interface NeededApproval {
  readonly state: string;
  readonly title: string;
  /** The instance that is changed. */
  readonly on: string;
  readonly risk: Risk;
}

/** Which confirmations of a run without trouble need an approval. Pure. */
export function approvalsOnPath(
  config: LoadedConfig,
  runbook: Runbook,
  path: readonly string[],
  { instance, target }: { readonly instance: string; readonly target: string | undefined },
): NeededApproval[] {
  return path.flatMap((state, at): NeededApproval[] => {
    const risk = riskOf(runbook, path, state);
    if (risk === undefined) return [];
    const change = path
      .slice(at + 1)
      .flatMap((name) => metaAt(runbook.machine, name)?.calls ?? [])
      .find(({ method }) => method !== 'GET');
    const on = change?.on === 'target' ? (target ?? instance) : instance;
    if (!needsApproval(config, on, risk)) return [];
    return [{ state, title: metaAt(runbook.machine, state)?.title ?? state, on, risk }];
  });
}
