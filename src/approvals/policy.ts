import canonicalize from 'canonicalize';
import { EXIT, LifeboatError } from '../base/errors.ts';
import { counted, formatSeconds } from '../base/format.ts';
import { show } from '../base/text.ts';
import type { Admitted } from '../runner/run.ts';
import type { Entry, Json } from '../store/journal.ts';
import {
  type ApprovalLevel,
  type ApprovalPolicy,
  type RunEntryBody,
  readRunEntry,
  type Who,
} from '../store/run-entries.ts';

/** The effect of a confirmation: data is overwritten, or another irreversible change. */
export type Risk = 'overwrites' | 'destructive';

export interface Weakening {
  readonly what: string;
  readonly begun: string;
  readonly now: string;
}

/** Undefined requires no second person. Pure. */
export function asksFor(level: ApprovalLevel | undefined, risk: Risk): boolean {
  return level === 'destructive' || (level === 'overwrites' && risk === 'overwrites');
}

/**
 * What `now` requires less of than `begun`: a lower level for an instance, no approvals or list of revoked
 * keys any more, a revoked key no longer listed, longer validity of requests. New people in the
 * allowed-signers file do not count: only those listed at the beginning can approve (`verifySignature`).
 * Empty if `begun` required nothing. Pure.
 */
export function weakenings(begun: ApprovalPolicy, now: ApprovalPolicy): Weakening[] {
  const required = Object.entries(begun.required).filter(([, level]) => level !== 'none');
  if (required.length === 0) return [];
  if (begun.signers !== undefined && now.signers === undefined)
    return [{ what: GONE, begun: required.map(([name, level]) => needs(name, level)).join('; '), now: NONE }];
  return [...lowered(required, now), ...longer(begun, now), ...unrevoked(begun, now)];
}

const GONE = 'the config has no `approvals` any more';
const NONE = 'the config names no approvers';
const RANKS: readonly ApprovalLevel[] = ['none', 'overwrites', 'destructive'];

function lowered(required: readonly [string, ApprovalLevel][], now: ApprovalPolicy): Weakening[] {
  return required.flatMap(([name, level]) => {
    const present = now.required[name] ?? 'none';
    if (RANKS.indexOf(present) >= RANKS.indexOf(level)) return [];
    const what = `fewer changes of ${name} need a second person`;
    return [{ what, begun: needs(name, level), now: needs(name, present) }];
  });
}

function longer(begun: ApprovalPolicy, now: ApprovalPolicy): Weakening[] {
  const [was, is] = [begun.expiresSeconds ?? 0, now.expiresSeconds ?? 0];
  if (is <= was) return [];
  return [{ what: 'a request lasts longer', begun: formatSeconds(was), now: formatSeconds(is) }];
}

function unrevoked(begun: ApprovalPolicy, now: ApprovalPolicy): Weakening[] {
  if (begun.revoked === undefined) return [];
  const count = ({ lines }: NonNullable<ApprovalPolicy['revoked']>) => counted(lines.length, 'line');
  const was = count(begun.revoked);
  if (now.revoked === undefined)
    return [{ what: 'the list of revoked keys is gone', begun: was, now: NO_LIST }];
  const present = new Set(now.revoked.lines);
  const left = begun.revoked.lines.filter((line) => !present.has(line)).length;
  if (left === 0) return [];
  const what = `${counted(left, 'line')} of the list of revoked keys ${left === 1 ? 'is' : 'are'} gone`;
  return [{ what, begun: was, now: count(now.revoked) }];
}

const NO_LIST = 'no list';

function needs(name: string, level: ApprovalLevel): string {
  return `${LEVELS[level]} of ${name} needs a second person`;
}

const LEVELS = {
  none: 'no change',
  overwrites: 'what overwrites data',
  destructive: 'every destructive change',
} as const;

/** Who drives a run now, and what config and files now require of a second person. */
export interface Present {
  readonly who: Who;
  readonly approvals: ApprovalPolicy;
}

interface Begun {
  /** From the first entry that has it; undefined in a record of an earlier version. */
  readonly approvals: ApprovalPolicy | undefined;
  /** The newest of each. */
  readonly latest: Partial<Present>;
  /** Every name, address and login of the people who drove the run: none of them can approve. */
  readonly requesters: readonly string[];
}

/** Reads what was required when a run began, and who has driven it since. Pure. */
export function begunOf(entries: readonly Entry[]): Begun {
  const driven = entries.flatMap((entry): Driven[] => {
    const read = DRIVEN.includes(entry.type) ? readRunEntry(entry) : undefined;
    return read === undefined ? [] : [read.body as Driven];
  });
  const people = driven.flatMap(({ who, operator }) => [operator, who?.name, who?.email, who?.login]);
  // A withdrawal is not a request.
  const writers = entries.filter(({ type }) => type !== 'approval.withdrawn').map(({ by }) => by);
  return {
    approvals: driven.find(({ approvals }) => approvals !== undefined)?.approvals,
    latest: {
      ...present('who', driven.findLast(({ who }) => who !== undefined)?.who),
      ...present('approvals', driven.findLast(({ approvals }) => approvals !== undefined)?.approvals),
    },
    requesters: [...new Set([...people, ...writers].filter((name) => name !== undefined))],
  };
}

const DRIVEN: readonly string[] = ['run.started', 'run.resumed'];
type Driven = Partial<RunEntryBody<'run.started'>> & Partial<RunEntryBody<'run.resumed'>>;

/**
 * What a process records when it takes a run up. Throws `approval.weaker` (exit 3) if less is required of a
 * second person than when the run began, unless `breakGlass` gives a reason, which is then recorded. The run
 * keeps its original requirements either way. Pure.
 */
export function admitted(
  entries: readonly Entry[],
  now: Present,
  { configPath, breakGlass }: { readonly configPath: string; readonly breakGlass?: string | undefined },
): Admitted {
  const { approvals, latest } = begunOf(entries);
  const changes = approvals === undefined ? [] : weakenings(approvals, now.approvals);
  if (changes.length > 0 && breakGlass === undefined) throw weaker(changes, configPath);
  const body = { reason: breakGlass ?? '', changes };
  return {
    resumed: {
      ...(isSame(latest.who, now.who) ? {} : { who: asJson(now.who) }),
      ...(isSame(latest.approvals, now.approvals) ? {} : { approvals: asJson(now.approvals) }),
    },
    notes: changes.length === 0 ? [] : [{ type: 'approval.weakened', body: asJson(body) }],
  };
}

function weaker(changes: readonly Weakening[], configPath: string): LifeboatError {
  const [first] = changes;
  return new LifeboatError(
    'approval.weaker',
    `the config asks for less approval than when the run began: ${show(first?.what ?? '', 200)}`,
    {
      hints: [
        ...changes.flatMap(({ what, begun, now }) => [
          ...(changes.length > 1 ? [`${show(what, 200)}:`] : []),
          `at the beginning: ${show(begun, 300)}`,
          `now: ${show(now, 300)}`,
        ]),
        `put ${changes.some(isGone) ? '`approvals`' : 'it'} back into ${show(configPath)}`,
        'in an emergency: --break-glass REASON, which goes on record and heads the report',
        'nothing was sent',
      ],
      exitCode: EXIT.waiting,
    },
  );
}

function isGone({ what }: Weakening): boolean {
  return what.includes('no `approvals`');
}

function present<Name extends string, Value>(name: Name, value: Value | undefined) {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, Value>);
}

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && canonicalize(one) === canonicalize(other);
}

function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
