import { effectOf, type Verb, type VerbOf } from '../../../machines/verbs.ts';
import type { Risk } from '../../approvals/policy.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Operation } from '../../service/revisions.ts';
import { needsApproval, riskOfVerb } from './required.ts';

interface Commanded {
  /** The operation of the service, which not every revision has. */
  readonly needs: Operation;
  /** The runbook that does the same through `lifeboat run`, if any. */
  readonly runbook?: string;
}

/** What single commands change: every verb that is sent only once, and some that may be repeated. */
const COMMANDED = {
  createBackup: { needs: 'createBackup', runbook: 'back-up-and-verify' },
  restoreBackup: { needs: 'restoreBackup', runbook: 'restore-backup' },
  performRecovery: { needs: 'performRecovery', runbook: 'disaster-recovery' },
  restoreToTime: { needs: 'restoreToTime', runbook: 'restore-point-in-time' },
  recreate: { needs: 'recreate', runbook: 'change-instance --action recreate' },
  restart: { needs: 'restart', runbook: 'change-instance --action restart' },
  update: { needs: 'update', runbook: 'change-instance --action update' },
  setKey: { needs: 'changeBackupsConfig', runbook: 'rotate-key' },
  prepareRecovery: { needs: 'prepareRecovery', runbook: 'disaster-recovery --prepare' },
  changeBackupSettings: { needs: 'changeBackupsConfig' },
  changeUpdateSetting: { needs: 'changeUpdateSetting' },
} as const satisfies Readonly<Record<VerbOf<'once'>, Commanded> & Partial<Record<Verb, Commanded>>>;

/** A verb that a single command can perform. */
export type CommandedVerb = keyof typeof COMMANDED;

/** The service operation that a single command needs. */
export function operationOf(verb: CommandedVerb): Operation {
  return COMMANDED[verb].needs;
}

/**
 * The risk of a command's call; undefined for a call that can be undone. A preparation that only `changes`
 * sets no key, and so loses nothing.
 */
export function riskOfCall(verb: Verb, weight: 'changes' | 'destroys'): Risk | undefined {
  const risk = riskOfVerb(verb);
  return weight === 'changes' && effectOf(verb) === 'key' ? undefined : risk;
}

/**
 * Rejects, with exit 2, a command that would change an instance at once although a second person has to
 * approve it: only a runbook waits for an approval. Rejects nothing when the glass is broken.
 */
export function assertSingleCallAllowed(
  config: LoadedConfig,
  name: string,
  { verb, weight }: { readonly verb: Verb; readonly weight: 'changes' | 'destroys' },
  breakGlass: string | undefined,
): void {
  const risk = riskOfCall(verb, weight);
  if (risk === undefined || !needsApproval(config, name, risk)) return;
  if (breakGlass !== undefined && breakGlass.trim() !== '') return;
  const runbook = runbookFor(verb);
  throw new LifeboatError('approval.needed', `a second person has to approve this change of ${name}`, {
    hints: [
      ...(runbook === undefined
        ? []
        : [`use the runbook, which asks for it: lifeboat run ${runbook} --instance ${name}`]),
      'in an emergency, without an approval: --break-glass REASON',
      'nothing was sent',
    ],
    exitCode: EXIT.usage,
  });
}

function runbookFor(verb: Verb): string | undefined {
  const rows: Readonly<Partial<Record<Verb, Commanded>>> = COMMANDED;
  return rows[verb]?.runbook;
}
