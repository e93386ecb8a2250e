import { runbooks } from '../../../machines/index.ts';
import type { Lane, Step } from '../../../machines/parts/plan.ts';
import type { Runbook } from '../../../machines/parts/runbook.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Json } from '../../store/journal.ts';

export interface StepRun {
  readonly runbook: Runbook;
  readonly instance: string;
  readonly target: string | undefined;
  readonly input: Json;
  /** Whether the instance that it changes is a scratch one. */
  readonly rehearsal: boolean;
}

/** The runbooks whose recovery time can count from the incident. */
const RECOVERIES: ReadonlySet<string> = new Set([
  'disaster-recovery',
  'restore-backup',
  'restore-point-in-time',
]);

/** What a step runs on an instance. Throws for a runbook that is not there. Pure. */
export function stepRunOf(
  step: Extract<Step, { kind: 'runbook' }>,
  { name, target }: Lane,
  { instances }: Pick<LoadedConfig, 'instances'>,
  incidentAt?: string,
): StepRun {
  const runbook = runbooks[step.runbook];
  if (runbook === undefined) throw new Error(`there is no runbook ${step.runbook}`);
  const isRecovery = step.runbook === 'disaster-recovery';
  const { phase, action, time } = step.with;
  const into = isRecovery && phase !== 'prepare' ? target : undefined;
  const rehearsal = instances[into ?? name]?.rehearsal === true;
  const wish = {
    instance: name,
    target: into,
    mode: isRecovery ? phase : undefined,
    action,
    time,
    incidentAt: RECOVERIES.has(step.runbook) ? incidentAt : undefined,
    rehearsal: rehearsal && into !== undefined ? rehearsal : undefined,
  };
  const input = runbook.input.parse(withoutUndefined(wish)) as Json;
  return { runbook, instance: name, target: into, input, rehearsal };
}

function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
