import type { Runbook } from '../../../machines/parts/runbook.ts';
import { type ApprovalGate, approvalGate } from '../../approvals/gate.ts';
import { nobodyNamed } from '../../approvals/refusals.ts';
import { publicKeyOf } from '../../approvals/ssh-signature.ts';
import type { ApprovalRules, Operator } from '../../approvals/verify-approval.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { DrivenRun } from '../../compose/instances.ts';
import { loginName, type Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { planOfState } from './plan-of-state.ts';
import { assertApproversConfigured, needsApproval, riskOfInvoked } from './required.ts';

/**
 * The approval gate of a run. Lets everything pass if neither the config nor the record of the run asks for
 * an approval. Rejects with `config.approvals`.
 */
export async function gateOfRun(
  context: CommandContext,
  config: LoadedConfig,
  workspace: Workspace,
  run: DrivenRun,
  runbook: Runbook,
  breakGlass: string | undefined,
): Promise<ApprovalGate> {
  assertApproversConfigured(config);
  const now = await workspace.journal.clock();
  let rules: Promise<ApprovalRules> | undefined;
  return approvalGate({
    home: workspace.home,
    operator: operatorOf(config, workspace),
    now,
    // Open the key store only when there may be a signature to check.
    rules: () => {
      rules ??= rulesOf(config, workspace, now).catch((thrown: unknown) => {
        rules = undefined;
        throw thrown;
      });
      return rules;
    },
    expiresMs: config.approvals?.expires ?? DEFAULT_EXPIRES_MS,
    planOf: planOfState(config, runbook, run),
    riskOf: ({ verb, input }) => riskOfInvoked(verb, input),
    needs: (instance, risk) => needsApproval(config, instance, risk),
    breakGlass,
    bypassed: (order, reason) => {
      // The screen shows this itself, and a line on stderr would corrupt it.
      if (context.stdin.isTTY === true) return;
      context.stderr.write(`BREAK-GLASS: ${show(order)} without a second person: ${show(reason)}\n`);
    },
  });
}

/** For a run whose record holds a request although the config no longer asks for one. */
const DEFAULT_EXPIRES_MS = 60 * 60_000;

/**
 * Who may approve for the operator of this home, by the store's clock. Rejects with `approval.nobody` if the
 * config has no approvals.
 */
export async function rulesOf(
  config: LoadedConfig,
  workspace: Pick<Workspace, 'keyring' | 'operator'>,
  now: () => Date,
): Promise<ApprovalRules> {
  if (config.approvals === undefined) throw nobodyNamed();
  const { allowedSigners, revoked } = config.approvals;
  const { fingerprint } = publicKeyOf(await workspace.keyring.signingKey());
  return {
    signers: { allowedSigners, revoked },
    operator: operatorOf(config, workspace),
    ownKey: fingerprint,
    now,
    here: () => new Date(),
  };
}

function operatorOf(config: LoadedConfig, { operator }: Pick<Workspace, 'operator'>): Operator {
  return { name: operator, email: config.operator.email, login: loginName(process.env) };
}
