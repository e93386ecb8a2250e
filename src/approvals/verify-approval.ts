import type { Entry } from '../journal/journal.ts';
import { approvalPaths, readPaper } from './approval-files.ts';
import { samePerson } from './refusals.ts';
import { isSamePerson, type Operator } from './same-person.ts';
import { momentOf, type Standing } from './standing.ts';
import { type Signers, type Verified, verifySignature } from './verify-signature.ts';

/** What makes a signature an approval. */
export interface ApprovalRules {
  readonly signers: Signers;
  readonly operator: Operator;
  /** Fingerprint of this installation's own key: it is no second person. */
  readonly ownKey: string;
  readonly now: () => Date;
}

export interface Approval extends Omit<Verified, 'listedAs'> {
  /** Armored, as it was verified. */
  readonly signature: string;
}

/** A challenge and the run that it is part of. */
export interface AskedOf {
  readonly run: string;
  /** All of the run's. */
  readonly entries: readonly Entry[];
  readonly asked: NonNullable<Standing['asked']>;
}

/** The signature that lies beside a challenge, verified; undefined when there is none. Rejects when it does not count. */
export async function approvalOnDisk(
  rules: ApprovalRules,
  home: string,
  about: AskedOf,
): Promise<Approval | undefined> {
  const paths = approvalPaths(home, about.run, about.asked.challenge);
  const signature = readPaper(paths.signature);
  return signature === undefined ? undefined : verifyApproval(rules, home, about, signature);
}

/**
 * Whether a signature approves what is asked: it is good, of somebody who may, and of somebody else than whoever asks. Rejects with
 * `approval.refused`, `approval.same-person` or `approval.unchecked`. Expiry and withdrawal are the caller's concern.
 */
export async function verifyApproval(
  { signers, operator, ownKey, now }: ApprovalRules,
  home: string,
  { run, entries, asked }: AskedOf,
  signature: string,
): Promise<Approval> {
  const clock = now();
  const at = momentOf(entries, clock);
  const isSetBack = at.getTime() - clock.getTime() > 1000;
  const found = await verifySignature(asked.text, signature, signers, isSetBack ? at : undefined);
  const { listedAs, ...verified } = found;
  const isOwn = verified.key === ownKey;
  const { by } = entries.findLast(({ type }) => type === 'approval.asked') ?? {};
  const isRequester = (name: string) => isSamePerson([name], [asked.requester, by], operator);
  const own = [...verified.principals, ...listedAs].find(isRequester);
  if (!isOwn && own === undefined) return { ...verified, signature };
  const file = approvalPaths(home, run, asked.challenge).challenge;
  throw samePerson(
    { run, file, expiresAt: asked.expiresAt },
    isOwn ? 'whoever has the key of this installation' : `${own}, who is listed with this key,`,
  );
}
