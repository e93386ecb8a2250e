import type { Risk } from '../../approvals/policy.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Operation } from '../../service/revisions.ts';
import { needsApproval } from './required.ts';

/**
 * What the call of a command risks; undefined for one that can be taken back. Setting a key is what makes a
 * setting destroy.
 */
export function riskOfCall(needs: Operation, weight: 'changes' | 'destroys'): Risk | undefined {
  return RISKS[needs] ?? (weight === 'destroys' ? 'destructive' : undefined);
}

const RISKS: Readonly<Partial<Record<Operation, Risk>>> = {
  restoreBackup: 'overwrites',
  performRecovery: 'overwrites',
  restoreToTime: 'overwrites',
  recreate: 'destructive',
  restart: 'destructive',
  update: 'destructive',
};

/**
 * Rejects, with exit 2, a command that would change an instance at once although a second person has to
 * approve it: only a runbook waits for one. Nothing is rejected when the glass is broken.
 */
export function refuseRaw(
  config: LoadedConfig,
  name: string,
  { needs, weight }: { readonly needs: Operation; readonly weight: 'changes' | 'destroys' },
  breakGlass: string | undefined,
): void {
  const risk = riskOfCall(needs, weight);
  if (risk === undefined || !needsApproval(config, name, risk)) return;
  if (breakGlass !== undefined && breakGlass.trim() !== '') return;
  throw new LifeboatError('approval.needed', `a second person has to approve this change of ${name}`, {
    hints: [
      `use the runbook, which asks for it: lifeboat run ${RUNBOOKS[needs] ?? 'RUNBOOK'} --instance ${name}`,
      'in an emergency, without an approval: --break-glass REASON',
      'nothing was sent',
    ],
    exitCode: EXIT.usage,
  });
}

const RUNBOOKS: Readonly<Partial<Record<Operation, string>>> = {
  restoreBackup: 'restore-backup',
  performRecovery: 'disaster-recovery',
  restoreToTime: 'restore-point-in-time',
  recreate: 'change-instance --action recreate',
  restart: 'change-instance --action restart',
  update: 'change-instance --action update',
  changeBackupsConfig: 'rotate-key',
  prepareRecovery: 'disaster-recovery --prepare',
};
