import type { RunProgress } from '../../store/projections/runs.ts';

/** Whether a run calls instances: no plan does, and no step of one that is no runbook. Pure. */
export function isOwnRun({ runbook }: Pick<RunProgress, 'runbook'>): boolean {
  return runbook !== 'plan' && runbook !== 'plan-step';
}
