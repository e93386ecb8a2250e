import { hostname, userInfo } from 'node:os';
import { admitted, type Present } from '../../approvals/policy.ts';
import { keptRevoked, keptSigners } from '../../approvals/verify-signature.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { DrivenRun } from '../../compose/instances.ts';
import { loginName, type Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { Admitted } from '../../runner/run.ts';
import type { Entry } from '../../store/journal.ts';
import type { Who } from '../../store/run-entries.ts';
import { levelOf } from './required.ts';

/** Who runs this process, for the record: by the config and by the operating system. */
export function whoIs(config: LoadedConfig, { operator }: Pick<Workspace, 'operator'>): Who {
  const { uid } = userInfoIfAny();
  const { email } = config.operator;
  return {
    name: operator,
    ...(email === undefined ? {} : { email }),
    login: loginName(process.env),
    ...(uid === undefined || uid < 0 ? {} : { uid }),
    host: hostname(),
    config: config.sha256,
  };
}

/** Who runs this process, and what config and files now ask of a second person on the run's instances. */
export async function presentOf(
  config: LoadedConfig,
  workspace: Pick<Workspace, 'operator'>,
  { instance, target }: { readonly instance: string; readonly target?: string | undefined },
): Promise<Present> {
  const names = [...new Set([instance, target ?? instance])];
  const required = Object.fromEntries(names.map((name) => [name, levelOf(config, name)]));
  const who = whoIs(config, workspace);
  if (config.approvals === undefined) return { who, approvals: { required } };
  const { allowedSigners, revoked, expires } = config.approvals;
  const signers = await keptSigners(allowedSigners);
  const files = { signers, ...(revoked === undefined ? {} : { revoked: await keptRevoked(revoked) }) };
  return { who, approvals: { required, expiresSeconds: expires / 1000, ...files } };
}

/** Lets this process take up a run or refuses (`admitted`). Warns if less is asked than at the beginning. */
export async function admission(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Pick<Workspace, 'operator'>,
  run: DrivenRun,
  breakGlass: string | undefined,
): Promise<(entries: readonly Entry[]) => Admitted> {
  const now = await presentOf(config, workspace, run);
  return (entries) => {
    const found = admitted(entries, now, { configPath: config.path, breakGlass });
    if (found.notes.length > 0)
      context.stderr.write(
        `BREAK-GLASS: the config asks for less approval than when the run began: ${show(breakGlass ?? '')}\n`,
      );
    return found;
  };
}

/**
 * Rejects (exit 2) a run that needs a second person whose files cannot be read: an approver unknown at the
 * beginning cannot approve later. Rejects nothing when the glass is broken.
 */
export function assertApprovalsReadable({ approvals }: Present, breakGlass: string | undefined): void {
  const { required, signers, revoked } = approvals;
  const problem = signers?.problem ?? revoked?.problem;
  const isNeeded = Object.values(required).some((level) => level !== 'none');
  if (problem === undefined || !isNeeded || breakGlass !== undefined) return;
  throw new LifeboatError('approval.unchecked', problem, {
    hints: [
      'when a run begins, it reads who may approve it',
      'in an emergency, without an approval: --break-glass REASON',
      'nothing was started',
    ],
    exitCode: EXIT.usage,
  });
}

function userInfoIfAny(): { readonly uid?: number } {
  try {
    return userInfo();
  } catch {
    return { ...(process.getuid === undefined ? {} : { uid: process.getuid() }) };
  }
}
