import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { durationFrom, wholeNumber } from '../../cli/numbers.ts';
import type { Fault } from '../../lab/faults.ts';
import type { LabOptions } from '../../lab/lab.ts';

export interface SimulatedFlags {
  readonly simulated?: string;
  readonly faults?: string;
  readonly seed?: string;
  readonly taskTime?: string;
  readonly lateBy?: string;
  readonly instance?: readonly string[];
}

/** More would not fit the names, nor a config. */
const MOST = 30_000;

/** What the flags ask of a lab; nothing of a lab that is not simulated. Throws usage errors. */
export function simulatedLab(flags: SimulatedFlags): Pick<LabOptions, 'simulated' | 'faults'> {
  const { simulated, faults, seed, taskTime, lateBy, instance } = flags;
  if (simulated === undefined) {
    const given = Object.entries({ faults, seed, 'task-time': taskTime, 'late-by': lateBy });
    const [flag] = given.find(([, value]) => value !== undefined) ?? [];
    if (flag === undefined) return {};
    throw usage('simulated', `--${flag} is for a simulated lab`, 'add --simulated N, or use --scenario');
  }
  if (instance !== undefined)
    throw usage('simulated', 'the instances of a simulated lab are all alike: leave --instance out');
  const sources = wholeNumber(simulated, '--simulated', 1);
  if (sources > MOST) throw usage('simulated', `a simulated lab has at most ${MOST} instances`);
  const number = seed === undefined ? 1 : wholeNumber(seed, '--seed', 0);
  return {
    simulated: {
      sources,
      seed: number,
      ...(taskTime === undefined ? {} : { taskMs: span(taskTime) }),
    },
    ...(faults === undefined ? {} : { faults: faultsOf(shares(faults), number, lateMs(lateBy)) }),
  };
}

/** Longer than the platform's router waits (service-api.md section 8), and than any client. */
function lateMs(lateBy: string | undefined): number {
  return lateBy === undefined ? 20 * 60_000 : durationFrom(lateBy, 'late-by', ['1ms', '1d']);
}

/** `2s`, or `1s-5s`. */
function span(text: string): readonly [least: number, most: number] {
  const [least = '', most = least] = text.split('-');
  const both = [least, most].map((one) => durationFrom(one, 'task-time', ['0ms', '1d']));
  const [from = 0, to = 0] = both;
  if (from <= to) return [from, to];
  throw usage('task-time', `--task-time ${show(text, 60)} ends before it begins`, 'write for instance 1s-5s');
}

const KINDS = ['fail', 'lost', 'late'] as const;
type Kind = (typeof KINDS)[number];

/** `fail=1%,lost=1%,late=0.1%` as parts of a whole. */
function shares(text: string): ReadonlyMap<Kind, number> {
  const found = new Map<Kind, number>();
  for (const part of text.split(',')) {
    const { kind, percent } = /^(?<kind>[a-z]+)=(?<percent>\d+(?:\.\d+)?)%$/u.exec(part.trim())?.groups ?? {};
    const known = KINDS.find((one) => one === kind);
    if (known === undefined || found.has(known) || percent === undefined)
      throw usage('faults', `${show(part, 60)} is not a share of faults`, EXAMPLE);
    found.set(known, Number(percent) / 100);
  }
  const sum = [...found.values()].reduce((all, one) => all + one, 0);
  if (sum <= 1) return found;
  throw usage('faults', 'the shares of faults are more than 100 % together', EXAMPLE);
}

const EXAMPLE = 'write for instance --faults fail=1%,lost=1%,late=0.1%';

/** Shares that never meet, so that each is as large as it says. */
function faultsOf(found: ReadonlyMap<Kind, number>, seed: number, ms: number): readonly Fault[] {
  let from = 0;
  return [...found].flatMap(([kind, size]) => {
    if (size === 0) return [];
    const share: [number, number] = [from, from + size];
    from += size;
    const base = { share, seed, times: 'always' as const, effect: effectOf(kind, ms) };
    // Only some calls start a task.
    if (kind === 'fail') return [base];
    return CHANGING.map((method): Fault => ({ ...base, method }));
  });
}

const CHANGING = ['POST', 'PATCH'] as const;

function effectOf(kind: Kind, ms: number): Fault['effect'] {
  switch (kind) {
    case 'fail':
      return { kind: 'task', outcome: 'failed' };
    case 'lost':
      return { kind: 'drop', when: 'after' };
    case 'late':
      return { kind: 'delay', ms, when: 'after' };
  }
}

function usage(flag: string, shortMessage: string, hint?: string): LifeboatError {
  return new LifeboatError(`usage.${flag}`, shortMessage, {
    hints: [...(hint === undefined ? [] : [hint]), 'nothing was started'],
    exitCode: EXIT.usage,
  });
}
