import { type FleetRow, rowNamed } from './fleet-row.ts';
import { asksSource, type Situation } from './situations.ts';
import type { HomeInstance } from './sources.ts';
import { NOT_FOUND_NEXT } from './status-cells.ts';

/** Every text is printable by `show`. */
export interface InstanceChoice {
  readonly name: string;
  readonly role: 'source' | 'target';
  readonly isRehearsal: boolean;
  /** Undefined until it answers. */
  readonly row: FleetRow | undefined;
  readonly disabled?: { readonly why: string; readonly instead: string };
  /** Does not prevent the choice. */
  readonly cautions: readonly string[];
}

export interface KnownInstances {
  readonly home: readonly HomeInstance[];
  /** Answered, or failed to. */
  readonly fleet: readonly FleetRow[];
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
  const row = rowNamed(known.fleet, one.name);
  const disabled = openRun(row) ?? sourceProblem(situation, one, row, known);
  const role = one.role === 'target' ? ['the config calls it a target'] : [];
  const login = asksSource(situation) && row?.isRefused === true ? [LOG_IN] : [];
  const cautions = [...login, ...lostByMistake(situation, row), ...role];
  return { ...choiceOf(one, row, disabled), cautions };
}

/** To check before an instance with a working address counts as lost. */
function lostByMistake(situation: Situation, row: FleetRow | undefined): readonly string[] {
  if (row?.notFound === undefined || asksSource(situation)) return [];
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

/** For a recovery of `source`: the config's targets first, then the rest, with the reason against each. */
export function targetChoices(source: string, known: KnownInstances): readonly InstanceChoice[] {
  const from = known.home.find(({ name }) => name === source);
  return known.home
    .filter(({ name }) => name !== source)
    .toSorted((one, other) => Number(one.role !== 'target') - Number(other.role !== 'target'))
    .map((one) => {
      const row = rowNamed(known.fleet, one.name);
      const disabled = targetProblem(source, from, one, row) ?? openRun(row);
      return { ...choiceOf(one, row, disabled), cautions: targetCautions(from, one, row) };
    });
}

function choiceOf(
  { name, role, isRehearsal }: HomeInstance,
  row: FleetRow | undefined,
  disabled: InstanceChoice['disabled'],
): InstanceChoice {
  return { name, role, isRehearsal, row, cautions: [], ...(disabled === undefined ? {} : { disabled }) };
}

/** Two runs on one instance would not see each other's changes. */
function openRun(row: FleetRow | undefined): InstanceChoice['disabled'] {
  if (row?.openRun === undefined) return undefined;
  const { openRun: run, openFollowUps } = row;
  // Abandoning a run whose applications wait for bindings leaves them unbound.
  const waysOut =
    openFollowUps > 0
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
  row: FleetRow | undefined,
  { home }: KnownInstances,
): InstanceChoice['disabled'] {
  if (situation.steps.includes('target') && home.length < 2) {
    return {
      why: 'the config has no second instance that its data could go into',
      instead: 'add one with `role: target` to the config; `lifeboat init` writes it',
    };
  }
  if (!asksSource(situation) || row === undefined) return undefined;
  // It did answer; the run waits for a token that the service accepts.
  const why = row.isRefused ? undefined : row.noAnswer;
  if (row.notFound !== undefined) {
    return {
      why: `it is NOT FOUND: ${row.notFound}`,
      instead: `${NOT_FOUND_NEXT}; if ${name} is gone, choose "the instance or its region is gone"`,
    };
  }
  if (why !== undefined) {
    return {
      why: `it does not answer: ${why}`,
      instead: `if ${name} is gone, choose "the instance or its region is gone": that run sends nothing to it`,
    };
  }
  if (situation.steps.includes('moment') && row.hasNoWindow) {
    return {
      why: 'it has no continuous archiving, so no moment can be brought back',
      instead: 'restore a backup: choose "the data of an older backup is needed"',
    };
  }
  if (situation.steps.includes('backup') && row.hasBackup === false) {
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
  row: FleetRow | undefined,
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
  if (row?.notFound !== undefined)
    return { why: `it is NOT FOUND: ${row.notFound}`, instead: NOT_FOUND_NEXT };
  const why = row?.noAnswer;
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
  row: FleetRow | undefined,
): readonly string[] {
  const isOther = from !== undefined && [from.revision, revision].every((one) => one !== 'auto');
  return [
    ...(isOther && from.revision !== revision
      ? [`its interface is revision ${revision}, the source has ${from.revision}`]
      : []),
    ...(row?.hasBackup !== undefined && row.verdict !== 'empty'
      ? ['it holds data of its own already, which is replaced']
      : []),
  ];
}

const LOG_IN = 'the service does not take the token: log in again, such as by `cf login`, then press Ctrl-R';
