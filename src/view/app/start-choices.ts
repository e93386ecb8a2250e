import type { InstanceStatus } from '../fleet/status-schema.ts';
import { asksSource, type Situation } from './situations.ts';
import type { HomeInstance } from './sources.ts';
import { NOT_FOUND_NEXT } from './status-cells.ts';

/** Every text is printable by `show`. */
export interface InstanceChoice {
  readonly name: string;
  readonly role: 'source' | 'target';
  readonly isRehearsal: boolean;
  /** Undefined until it answers. */
  readonly status: InstanceStatus | undefined;
  readonly disabled?: { readonly why: string; readonly instead: string };
  /** Does not prevent the choice. */
  readonly cautions: readonly string[];
}

export interface KnownInstances {
  readonly home: readonly HomeInstance[];
  /** Answered, or failed to. */
  readonly fleet: readonly InstanceStatus[];
}

/** Sources first. */
export function instanceChoices(situation: Situation, known: KnownInstances): readonly InstanceChoice[] {
  return known.home
    .toSorted((one, other) => Number(one.role === 'target') - Number(other.role === 'target'))
    .map((one) => sourceChoice(situation, one, known));
}

/**
 * The first reason why `instance`, or any instance if it is undefined, cannot be chosen. Undefined as soon as
 * one can be chosen.
 */
export function noSourceFor(
  situation: Situation,
  instance: string | undefined,
  known: KnownInstances,
): InstanceChoice | undefined {
  let first: InstanceChoice | undefined;
  for (const isTarget of [false, true]) {
    for (const one of known.home) {
      if ((one.role === 'target') !== isTarget || (instance ?? one.name) !== one.name) continue;
      const choice = sourceChoice(situation, one, known);
      if (choice.disabled === undefined) return undefined;
      first ??= choice;
    }
  }
  return first;
}

function sourceChoice(situation: Situation, one: HomeInstance, known: KnownInstances): InstanceChoice {
  const status = statusOf(known.fleet, one.name);
  const disabled = openRun(status) ?? sourceProblem(situation, one, status, known);
  const role = one.role === 'target' ? ['the config calls it a target'] : [];
  const login = asksSource(situation) && isRefused(status) ? [LOG_IN] : [];
  const cautions = [...login, ...lostByMistake(situation, status), ...role];
  return { ...choiceOf(one, status, disabled), cautions };
}

/** To check before an instance with a working address counts as lost. */
function lostByMistake(situation: Situation, status: InstanceStatus | undefined): readonly string[] {
  if (status?.notFound === undefined || asksSource(situation)) return [];
  return [`it is NOT FOUND, not DOWN: ${NOT_FOUND_NEXT}`];
}

/** Undefined if the config does not name the instance. */
export function choiceFor(
  situation: Situation,
  instance: string,
  known: KnownInstances,
): InstanceChoice | undefined {
  const one = known.home.find(({ name }) => name === instance);
  return one && sourceChoice(situation, one, known);
}

/** A frame asks for each instance of a fleet, which stays the same for many frames. */
const BY_NAME = new WeakMap<KnownInstances['fleet'], ReadonlyMap<string, InstanceStatus>>();

function statusOf(fleet: KnownInstances['fleet'], name: string): InstanceStatus | undefined {
  const byName = BY_NAME.get(fleet) ?? new Map(fleet.map((one) => [one.name, one]));
  BY_NAME.set(fleet, byName);
  return byName.get(name);
}

/** For a recovery of `source`: the config's targets first, then the rest, with the reason against each. */
export function targetChoices(source: string, known: KnownInstances): readonly InstanceChoice[] {
  const from = known.home.find(({ name }) => name === source);
  return known.home
    .filter(({ name }) => name !== source)
    .toSorted((one, other) => Number(one.role !== 'target') - Number(other.role !== 'target'))
    .map((one) => {
      const status = statusOf(known.fleet, one.name);
      const disabled = targetProblem(source, from, one, status) ?? openRun(status);
      return { ...choiceOf(one, status, disabled), cautions: targetCautions(from, one, status) };
    });
}

function choiceOf(
  { name, role, isRehearsal }: HomeInstance,
  status: InstanceStatus | undefined,
  disabled: InstanceChoice['disabled'],
): InstanceChoice {
  return { name, role, isRehearsal, status, cautions: [], ...(disabled === undefined ? {} : { disabled }) };
}

/** Two runs on one instance would not see each other's changes. */
function openRun(status: InstanceStatus | undefined): InstanceChoice['disabled'] {
  const [run] = status?.openRuns ?? [];
  if (run === undefined) return undefined;
  // Abandoning a run whose applications wait for bindings leaves them unbound.
  const waysOut =
    (status?.followUps?.open ?? 0) > 0
      ? 'do what is left to be done: lifeboat followups'
      : `abandon it: lifeboat resume ${run} --abandon REASON`;
  return {
    why: `run ${run} on it is still open`,
    instead: `resume that run (r on the board), or ${waysOut}`,
  };
}

function sourceProblem(
  situation: Situation,
  { name }: HomeInstance,
  status: InstanceStatus | undefined,
  { home }: KnownInstances,
): InstanceChoice['disabled'] {
  if (situation.steps.includes('target') && home.length < 2) {
    return {
      why: 'the config has no second instance that its data could go into',
      instead: 'add one with `role: target` to the config; `lifeboat init` writes it',
    };
  }
  if (!asksSource(situation) || status === undefined) return undefined;
  // It did answer; the run waits for a token that the service accepts.
  const why = isRefused(status) ? undefined : noAnswer(status);
  if (status.notFound !== undefined) {
    return {
      why: `it is NOT FOUND: ${status.notFound.why}`,
      instead: `${NOT_FOUND_NEXT}; if ${name} is gone, choose "the instance or its region is gone"`,
    };
  }
  if (why !== undefined) {
    return {
      why: `it does not answer: ${why}`,
      instead: `if ${name} is gone, choose "the instance or its region is gone": that run sends nothing to it`,
    };
  }
  if (situation.steps.includes('moment') && hasNoWindow(status)) {
    return {
      why: 'it has no continuous archiving, so no moment can be brought back',
      instead: 'restore a backup: choose "the data of an older backup is needed"',
    };
  }
  if (situation.steps.includes('backup') && status.newestBackup === undefined && isKnown(status, 'backups')) {
    return {
      why: 'it has no backup that is done',
      instead: 'take one first, or bring it back to a moment: choose "rows were deleted"',
    };
  }
  return undefined;
}

function targetProblem(
  source: string,
  from: HomeInstance | undefined,
  one: HomeInstance,
  status: InstanceStatus | undefined,
): InstanceChoice['disabled'] {
  if (one.address !== undefined && one.address === from?.address) {
    return {
      why: `it is ${source} under another name: both have the same address`,
      instead: 'to restore in place, choose "the data of an older backup is needed"',
    };
  }
  if (one.role !== 'target') {
    return {
      why: 'the config does not call it a target, and everything it holds would be replaced',
      instead: 'to allow that, give it `role: target` in the config',
    };
  }
  if (status?.notFound !== undefined)
    return { why: `it is NOT FOUND: ${status.notFound.why}`, instead: NOT_FOUND_NEXT };
  const why = status && noAnswer(status);
  if (why !== undefined) {
    return {
      why: `it does not answer: ${why}`,
      instead: 'choose another target, or press Ctrl-R to ask it again',
    };
  }
  return undefined;
}

function targetCautions(
  from: HomeInstance | undefined,
  { revision }: HomeInstance,
  status: InstanceStatus | undefined,
): readonly string[] {
  const isOther = from !== undefined && [from.revision, revision].every((one) => one !== 'auto');
  return [
    ...(isOther && from.revision !== revision
      ? [`its interface is revision ${revision}, the source has ${from.revision}`]
      : []),
    ...(status !== undefined && status.evaluation.verdict !== 'empty' && isKnown(status, 'backups')
      ? ['it holds data of its own already, which is replaced']
      : []),
  ];
}

/** Undefined if it answers or was not asked yet. */
function noAnswer({ parts }: InstanceStatus): string | undefined {
  const { overview, backups } = parts;
  if (backups.state !== 'failed' || overview.state === 'known') return undefined;
  return backups.why ?? 'no reason is known';
}

/** It answers, but refuses the token. */
export function isRefused(status: InstanceStatus | undefined): boolean {
  const code = status?.parts.backups.code ?? '';
  return code.startsWith('credentials.') || code === 'service.forbidden';
}

const LOG_IN = 'the service does not take the token: log in again, such as by `cf login`, then press Ctrl-R';

function hasNoWindow({ window, parts }: InstanceStatus): boolean {
  return window === 'none' || parts.window.state === 'missing';
}

function isKnown({ parts }: InstanceStatus, part: keyof InstanceStatus['parts']): boolean {
  return parts[part]?.state === 'known';
}
