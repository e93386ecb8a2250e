import type { Runbook } from '../../../machines/parts/runbook.ts';
import { mainPathOf, statePath } from '../../../machines/parts/states.ts';
import { approvalPaths, readIfThere, stampOf } from '../../approvals/approval-files.ts';
import type { Plan } from '../../approvals/challenge.ts';
import { type ApprovalGate, approvalGate } from '../../approvals/gate.ts';
import { asksFor, begunOf } from '../../approvals/policy.ts';
import { nobodyNamed, signCommand } from '../../approvals/refusals.ts';
import { isAskedOnRecord, requestStateOf } from '../../approvals/request-state.ts';
import { publicKeyOf } from '../../approvals/ssh-signature.ts';
import type { Operator } from '../../approvals/terms.ts';
import type { ApprovalRules } from '../../approvals/verify-approval.ts';
import type { Signers } from '../../approvals/verify-signature.ts';
import { failureOf } from '../../base/errors.ts';
import { formatTime } from '../../base/format.ts';
import { show } from '../../base/text.ts';
import type { CommandContext } from '../../cli/context.ts';
import type { DrivenRun } from '../../compose/instances.ts';
import { loginName, type Workspace } from '../../compose/workspace.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import { questionOf } from '../../runner/answer.ts';
import type { RunState } from '../../runner/run.ts';
import { plannedSteps } from '../../view/dry-run-view.ts';
import type { ApprovalView } from '../../view/run-view.ts';
import { viewFact } from '../../view/view-outcome.ts';
import { aroundOfPlan, termsAt } from './plan-terms.ts';
import { assertApproversConfigured, needsApproval, riskOf, riskOfInvoked } from './required.ts';

/**
 * The approval gate of a run, of a step of a plan and of a plan as well. Lets everything pass if neither the
 * config nor the record of the run asks for an approval, nor the plan. Rejects with `config.approvals`.
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
  const around = await aroundOfPlan(workspace.journal, run);
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
    planOf: planOfState(config, runbook, run, around.shown),
    termsOf: ({ snapshot }) => termsAt(snapshot, around),
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

/** By the store's clock. Rejects with `approval.nobody` if the config has no approvals. */
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

/**
 * What a second person must approve in a state; undefined for nothing. By the record: what needed approval at
 * the beginning, or was requested once, needs it to the end, even if the config now asks for less. Pure.
 */
export function planOfState(
  config: LoadedConfig,
  runbook: Runbook,
  run: DrivenRun,
  shown: readonly string[] = [],
): (state: RunState) => Plan | undefined {
  const known = new WeakMap<RunState['snapshot'], Planned>();
  return (state) => {
    const found = known.get(state.snapshot) ?? planned(config, runbook, run, state, shown);
    known.set(state.snapshot, found);
    const { plan, isAsked } = found;
    return plan !== undefined && (isAsked || isAskedOnRecord(state.entries, plan)) ? plan : undefined;
  };
}

/** What is approved, and whether the config asks for that, or did when the run began, or a plan does. */
interface Planned {
  readonly plan?: Plan;
  readonly isAsked?: boolean;
}

function planned(
  config: LoadedConfig,
  runbook: Runbook,
  { instance, target }: DrivenRun,
  { snapshot, entries, runId }: RunState,
  shown: readonly string[],
): Planned {
  const question = questionOf(snapshot);
  if (question?.kind !== 'typed-name') return {};
  const { byOthers } = question;
  const state = statePath(snapshot);
  const context = snapshot.context as never;
  const path = mainPathOf(runbook.machine, context);
  const risk = byOthers === undefined ? riskOf(runbook, path, state) : undefined;
  if (byOthers === undefined && risk === undefined) return {};
  const { mode = 'LIVE' } = (entries[0]?.body ?? {}) as { readonly mode?: string };
  const at = path.indexOf(state);
  const plan: Plan = {
    run: runId,
    runbook: runbook.id,
    version: runbook.version,
    mode,
    state,
    prompt: question.prompt,
    order: question.order,
    instance,
    target: question.expected,
    url: (byOthers === undefined ? config.instances[question.expected]?.url : undefined) ?? '-',
    event: question.event,
    facts: [
      ...(byOthers === undefined ? [] : [...byOthers.shows, ...shown]),
      ...runbook.facts(context).map((fact) => {
        const { label, value } = viewFact(fact);
        return `${label}: ${value}`;
      }),
    ],
    overrides: runbook.skipped(context).map(({ step, reason }) => `${step}: ${reason}`),
    calls: plannedSteps(runbook, { instance, target }, path.slice(at + 1)).flatMap(({ calls, does }) => [
      ...calls
        .filter(({ changes }) => changes)
        .map(({ method, path: below, on, what }) => `${method} ${below} on ${on}: ${what}`),
      ...does,
    ]),
  };
  const { required = {} } = begunOf(entries).approvals ?? {};
  const isAsked =
    risk === undefined || needsApproval(config, plan.target, risk) || asksFor(required[plan.target], risk);
  return { plan, isAsked };
}

/**
 * The approval as renderers show it, from disk. A changed signature is verified in the background, so that
 * the view never waits. `wake` makes the run look at an expired request, if the plan says what happens then.
 */
export function approvalWatch(
  gate: ApprovalGate,
  home: string,
  signers: Signers | undefined,
  wake: () => void = () => undefined,
): (state: RunState) => ApprovalView | undefined {
  let seen: { readonly stamp: string; readonly found: Pick<ApprovalView, 'state' | 'by' | 'problem'> } = {
    stamp: '',
    found: { state: 'needed' },
  };
  let looking: string | undefined;
  let woken: string | undefined;

  const look = (state: RunState, stamp: string) => {
    if (stamp === seen.stamp || looking !== undefined) return;
    looking = stamp;
    void gate
      .lookAt(state)
      .then((approval) => {
        const by = approval && `${approval.principals.join(',')} (${approval.key})`;
        seen = { stamp, found: by === undefined ? { state: 'needed' } : { state: 'given', by } };
      })
      .catch((thrown: unknown) => {
        seen = { stamp, found: { state: 'needed', problem: failureOf(thrown).shortMessage } };
      })
      .finally(() => {
        looking = undefined;
      });
  };

  return (state) => {
    if (gate.planOf(state) === undefined) return undefined;
    const { asked, withdrawn } = requestStateOf(state.entries);
    const glass = gate.glass();
    if (asked === undefined)
      return { ...NOT_ASKED, ...(glass === undefined ? {} : { state: 'bypassed', by: glass }) };
    const misfit = gate.misfit(state);
    if (misfit !== undefined)
      return glass === undefined
        ? { ...NOT_ASKED, problem: `the request on record does not fit this confirmation: ${misfit}` }
        : { ...NOT_ASKED, state: 'bypassed', by: glass };
    const paths = approvalPaths(home, state.runId, asked.challenge);
    const shown = {
      challenge: asked.challenge,
      file: paths.challenge,
      command: signCommand(paths.challenge),
      expiresAt: formatTime(asked.expiresAt),
    };
    const reason = withdrawn?.reason ?? documentAt(paths.withdrawn);
    if (reason !== undefined) return { ...shown, state: 'withdrawn', by: reason };
    if (gate.isExpired(asked, state.entries)) {
      if (woken !== asked.challenge && (gate.termsOf(state)?.onExpiry ?? 'pause') !== 'pause') {
        woken = asked.challenge;
        wake();
      }
      return { ...shown, state: 'expired' };
    }
    const stamp = `${asked.challenge} ${stampOf([paths.signature, signers?.allowedSigners, signers?.revoked])}`;
    look(state, stamp);
    const found = seen.stamp === stamp ? seen.found : ({ state: 'needed' } as const);
    if (found.state !== 'given' && glass !== undefined) return { ...shown, state: 'bypassed', by: glass };
    return { ...shown, ...found };
  };
}

const NOT_ASKED: ApprovalView = { state: 'needed', challenge: '', file: '', command: '', expiresAt: '' };

function documentAt(path: string): string | undefined {
  try {
    return readIfThere(path)?.trim();
  } catch {
    return undefined;
  }
}
