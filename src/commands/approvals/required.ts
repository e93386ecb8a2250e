import type { Runbook } from '../../../machines/parts/runbook.ts';
import { metaAt, nodesAt } from '../../../machines/parts/states.ts';
import { type Effect, effectOf } from '../../../machines/verbs.ts';
import { asksFor, type Risk } from '../../approvals/policy.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import type { LoadedConfig } from '../../config/loaded.ts';
import type { ApprovalLevel } from '../../store/run-entries.ts';

const CONFIRM = 'operator.confirm';

/** The risk of each effect of a verb; undefined if it loses no data, key or running instance. */
const RISKS: Readonly<Record<Effect, Risk | undefined>> = {
  none: undefined,
  download: undefined,
  backup: undefined,
  restore: 'overwrites',
  instance: 'destructive',
  key: 'destructive',
  settings: undefined,
  platform: undefined,
  outside: undefined,
};

/** The risk of a verb. An unknown one is assumed to replace data. */
export function riskOfVerb(verb: string): Risk | undefined {
  const effect = effectOf(verb);
  return effect === undefined ? 'overwrites' : RISKS[effect];
}

export function riskOfInvoked(verb: string, input: unknown): Risk | undefined {
  const { fingerprint } = (input ?? {}) as { readonly fingerprint?: unknown };
  // Without a key in the body the instance keeps its own.
  return effectOf(verb) === 'key' && fingerprint === undefined ? undefined : riskOfVerb(verb);
}

export function levelOf(config: LoadedConfig, instance: string): ApprovalLevel {
  const own = Object.hasOwn(config.instances, instance) ? config.instances[instance]?.approval : undefined;
  if (own !== undefined) return own === 'required' ? 'destructive' : 'none';
  return config.approvals?.required ?? 'none';
}

export function needsApproval(config: LoadedConfig, instance: string, risk: Risk): boolean {
  return asksFor(levelOf(config, instance), risk);
}

/**
 * The risk of what the confirmation in a state leads to; undefined for a state without one. Unless it is
 * shown to be harmless, it counts as replacing data, also if its state is not on the path.
 */
export function riskOf(runbook: Runbook, path: readonly string[], state: string): Risk | undefined {
  if (!isConfirmation(runbook, state)) return undefined;
  const at = path.indexOf(state);
  if (at < 0) return 'overwrites';
  const risks = untilNext(runbook, path.slice(at + 1))
    .flatMap((name) => verbsAt(runbook, name))
    .map(riskOfVerb);
  return risks.includes('destructive') && !risks.includes('overwrites') ? 'destructive' : 'overwrites';
}

function verbsAt({ machine }: Runbook, state: string): readonly string[] {
  const { invoke = [] } = nodesAt(machine, state).at(-1) ?? {};
  return invoke.map(({ id, src }) => (typeof src === 'string' ? src : id));
}

/** Rejects, with exit 2, a config that asks for approvals but does not say who may give them. */
export function assertApproversConfigured(config: LoadedConfig): void {
  if (config.approvals !== undefined) return;
  const name = Object.keys(config.instances).find((one) => config.instances[one]?.approval === 'required');
  if (name === undefined) return;
  throw new LifeboatError(
    'config.approvals',
    `${name} requires approvals, but the config names nobody to give them`,
    {
      hints: ['for instance: approvals: { allowedSigners: ./approvers }', 'nothing was started'],
      exitCode: EXIT.usage,
    },
  );
}

/** An override does not count: it sends nothing, and the confirmation after it names what was overridden. */
function isConfirmation(runbook: Runbook, state: string): boolean {
  return nodesAt(runbook.machine, state).at(-1)?.ownEvents.includes(CONFIRM) ?? false;
}

function untilNext(runbook: Runbook, path: readonly string[]): readonly string[] {
  const next = path.findIndex((state) => isConfirmation(runbook, state));
  return next < 0 ? path : path.slice(0, next);
}

export interface NeededApproval {
  readonly state: string;
  readonly title: string;
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
