import { counted, formatSeconds } from '../base/format.ts';
import type { ApprovalLevel, ApprovalPolicy } from '../store/run-entries.ts';

/** The effect of a confirmation: data is overwritten, or another irreversible change. */
export type Risk = 'overwrites' | 'destructive';

/** One thing that a policy requires less of than an earlier one, in words for people. */
export interface Weakening {
  readonly what: string;
  readonly begun: string;
  readonly now: string;
}

/** Whether a level requires a second person for a change with this risk. Undefined requires none. Pure. */
export function asksFor(level: ApprovalLevel | undefined, risk: Risk): boolean {
  return level === 'destructive' || (level === 'overwrites' && risk === 'overwrites');
}

/**
 * What `now` requires less of than `begun`; empty if it requires at least as much. These are less: a lower
 * level for an instance, missing approvals or list of revoked keys, a revoked key that is no longer listed,
 * and a longer validity of requests. More or other people in the allowed-signers file do not count: only
 * those in the file at the beginning can approve (`verifySignature`). If nothing was required, nothing is
 * less. Pure.
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

/** `every destructive change of orders needs a second person`. */
function needs(name: string, level: ApprovalLevel): string {
  return `${LEVELS[level]} of ${name} needs a second person`;
}

const LEVELS = {
  none: 'no change',
  overwrites: 'what overwrites data',
  destructive: 'every destructive change',
} as const;
