import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import { approvalPaths, readIfThere } from './approval-files.ts';
import { begunOf } from './begun.ts';
import { namesake, samePerson } from './refusals.ts';
import { momentSinceAsked, type RequestState } from './request-state.ts';
import { type Operator, resemblance } from './same-person.ts';
import { type Signers, type Verified, verifySignature } from './verify-signature.ts';

/** What makes a signature an approval. */
export interface ApprovalRules {
  readonly signers: Signers;
  readonly operator: Operator;
  /** Fingerprint of this installation's own key: it is no second person. */
  readonly ownKey: string;
  /** The clock that stamps entries: what is approved, and keys that may approve, go by it. */
  readonly now: () => Date;
  /** The clock of this machine, by which ssh-keygen goes unless it is told otherwise; `now` without it. */
  readonly here?: () => Date;
}

export interface Approval extends Omit<Verified, 'listedAs'> {
  /** RFC 3339: the moment that counted, where it is not that of this machine's clock. */
  readonly moment?: string;
}

/** A challenge and the run that it is part of. */
export interface AskedOf {
  readonly run: string;
  /** All of the run's. */
  readonly entries: readonly Entry[];
  readonly asked: NonNullable<RequestState['asked']>;
}

/**
 * The signature that lies beside a challenge, verified; undefined when there is none. Rejects when it does
 * not count.
 */
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
 * Whether a signature approves what is asked: it is good, of somebody who could when the run began and still
 * can, and of nobody who has driven the run. Rejects with `approval.refused`, `approval.same-person` or
 * `approval.unchecked`. Expiry and withdrawal are the caller's concern.
 */
export async function verifyApproval(
  { signers, operator, ownKey, now, here = now }: ApprovalRules,
  home: string,
  { run, entries, asked }: AskedOf,
  signature: string,
): Promise<Approval> {
  const at = momentSinceAsked(entries, now());
  const isOther = Math.abs(at.getTime() - here().getTime()) > 1000;
  const { approvals, requesters } = begunOf(entries);
  const known = { ...signers, counted: approvals?.signers?.lines };
  const found = await verifySignature(asked.text, signature, known, isOther ? at : undefined);
  const { listedAs, ...verified } = found;
  const file = approvalPaths(home, run, asked.challenge).challenge;
  const request = { run, file, expiresAt: asked.expiresAt };
  if (verified.key === ownKey) throw samePerson(request, 'whoever has the key of this installation');
  for (const name of [...verified.principals, ...listedAs]) {
    const found = resemblance(name, [asked.requester, ...requesters], operator);
    if (found === 'same') throw samePerson(request, `${show(name, 200)}, who is listed with this key,`);
    if (found === 'namesake') throw namesake(request, show(name, 200));
  }
  return { ...verified, ...(isOther ? { moment: at.toISOString() } : {}) };
}
