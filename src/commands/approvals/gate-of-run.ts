import type { Runbook } from '../../../machines/parts/runbook.ts';
import { type ApprovalGate, approvalGate } from '../../approvals/gate.ts';
import { publicKeyOf } from '../../approvals/ssh-signature.ts';
import type { ApprovalRules } from '../../approvals/verify-approval.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { show } from '../../text.ts';
import type { CommandContext } from '../context.ts';
import type { DrivenRun } from '../sites.ts';
import type { Workspace } from '../workspace.ts';
import { planOfState } from './plan-of-state.ts';
import { refuseNobody } from './required.ts';

/** The gate that a run goes through, or nothing where the config asks for no approvals. Rejects with `config.approvals`. */
export async function gateOfRun(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  run: DrivenRun,
  runbook: Runbook,
  breakGlass: string | undefined,
): Promise<ApprovalGate | undefined> {
  refuseNobody(config);
  const { approvals } = config;
  if (approvals === undefined) return undefined;
  return approvalGate({
    ...(await rulesOf(config, workspace)),
    home: workspace.home,
    expiresMs: approvals.expires,
    planOf: planOfState(config, runbook, run),
    breakGlass: breakGlass?.trim() === '' ? undefined : breakGlass,
    bypassed: (order, reason) => {
      // The screen says it for itself, and a line on stderr would fall into the middle of it.
      if (context.stdin.isTTY === true) return;
      context.stderr.write(`BREAK-GLASS: ${show(order)} without a second person: ${show(reason)}\n`);
    },
  });
}

/** Who may approve for the operator of this home. */
export async function rulesOf(
  config: LoadedConfig,
  { keyring, operator }: Pick<Workspace, 'keyring' | 'operator'>,
): Promise<ApprovalRules> {
  const { allowedSigners = '', revoked } = config.approvals ?? {};
  const { fingerprint } = publicKeyOf(await keyring.signingKey());
  return {
    signers: { allowedSigners, revoked },
    operator: { name: operator, email: config.operator.email },
    ownKey: fingerprint,
    now: () => new Date(),
  };
}
