import { LifeboatError } from '../base/errors.ts';
import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import { approvalPaths, readIfThere } from './approval-files.ts';
import { begunOf } from './policy.ts';
import { namesake, samePerson, superseded } from './refusals.ts';
import { momentSinceAsked, type RequestState, textsBefore } from './request-state.ts';
import { type ApprovalTerms, assertMeetsTerms, type Operator, resemblance } from './terms.ts';
import { type Signers, type Verified, verifySignature } from './verify-signature.ts';

export interface ApprovalRules {
  readonly signers: Signers;
  readonly operator: Operator;
  /** Fingerprint of this installation's own key, which is not a second person. */
  readonly ownKey: string;
  /** The clock that stamps entries: for approvals and for the validity of keys. */
  readonly now: () => Date;
  /** This machine's clock, which ssh-keygen uses by default; `now` if omitted. */
  readonly here?: () => Date;
}

export interface Approval extends Omit<Verified, 'listedAs' | 'namesOf'> {
  /** RFC 3339: the moment that counted, if not by this machine's clock. */
  readonly moment?: string;
}

export interface AskedOf {
  readonly run: string;
  readonly entries: readonly Entry[];
  readonly asked: NonNullable<RequestState['asked']>;
  /** What a plan asks in addition. */
  readonly terms?: ApprovalTerms | undefined;
}

/** The verified signature beside a challenge; undefined if there is none. Rejects if it does not count. */
export async function approvalOnDisk(
  rules: ApprovalRules,
  home: string,
  about: AskedOf,
): Promise<Approval | undefined> {
  const paths = approvalPaths(home, about.run, about.asked.challenge);
  const signature = readIfThere(paths.signature);
  return signature === undefined ? undefined : verifyApproval(rules, home, about, signature);
}

/**
 * Accepts a valid signature by a person who could approve when the run began and still can, has not driven
 * the run, and meets the plan's terms. Rejects with `approval.refused`, `approval.same-person` or
 * `approval.unchecked`. The caller checks expiry and withdrawal.
 */
export async function verifyApproval(
  { signers, operator, ownKey, now, here = now }: ApprovalRules,
  home: string,
  { run, entries, asked, terms }: AskedOf,
  signature: string,
): Promise<Approval> {
  const at = momentSinceAsked(entries, now());
  const isOther = Math.abs(at.getTime() - here().getTime()) > 1000;
  const { approvals, requesters } = begunOf(entries);
  const known = { ...signers, counted: inBoth(approvals?.signers?.lines, terms?.listed) };
  const file = approvalPaths(home, run, asked.challenge).challenge;
  const request = { run, file, expiresAt: asked.expiresAt };
  const verify = (text: string) => verifySignature(text, signature, known, isOther ? at : undefined);
  const found = await verify(asked.text).catch(async (thrown: unknown) => {
    if (!(thrown instanceof LifeboatError && thrown.code === 'approval.refused')) throw thrown;
    for (const text of textsBefore(entries, asked)) if (await isGood(verify(text))) throw superseded(request);
    throw thrown;
  });
  const { listedAs, namesOf: _, ...verified } = found;
  if (verified.key === ownKey) throw samePerson(request, 'whoever has the key of this installation');
  for (const name of [...verified.principals, ...listedAs]) {
    const found = resemblance(name, [asked.requester, ...requesters], operator);
    if (found === 'same') throw samePerson(request, `${show(name, 200)}, who is listed with this key,`);
    if (found === 'namesake') throw namesake(request, show(name, 200));
  }
  if (terms !== undefined) assertMeetsTerms(found, terms, { entries, request });
  return { ...verified, ...(isOther ? { moment: at.toISOString() } : {}) };
}

/** A step begins later than its plan: only people listed at both moments count. */
function inBoth(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const known = new Set(other);
  return one.filter((line) => known.has(line));
}

function isGood(verified: Promise<unknown>): Promise<boolean> {
  return verified.then(
    () => true,
    () => false,
  );
}
