import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import { approvalPaths, readIfThere } from './approval-files.ts';
import { begunOf } from './policy.ts';
import { namesake, samePerson } from './refusals.ts';
import { momentSinceAsked, type RequestState } from './request-state.ts';
import { type Signers, type Verified, verifySignature } from './verify-signature.ts';

export interface ApprovalRules {
  readonly signers: Signers;
  readonly operator: Operator;
  /** Fingerprint of this installation's own key, which is not a second person. */
  readonly ownKey: string;
  /** The clock that stamps entries, used for approvals and for the validity of keys. */
  readonly now: () => Date;
  /** This machine's clock, which ssh-keygen uses by default; `now` if omitted. */
  readonly here?: () => Date;
}

export interface Approval extends Omit<Verified, 'listedAs'> {
  /** RFC 3339: the moment that counted, if not by this machine's clock. */
  readonly moment?: string;
}

/** A challenge and its run. */
export interface AskedOf {
  readonly run: string;
  readonly entries: readonly Entry[];
  readonly asked: NonNullable<RequestState['asked']>;
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
 * Whether a signature approves the request: it is valid, by someone who could approve when the run began and
 * still can, and who has not driven the run. Rejects with `approval.refused`, `approval.same-person` or
 * `approval.unchecked`. The caller checks expiry and withdrawal.
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

/** The person who confirms: as named by the config, and by the system. */
export interface Operator {
  readonly name: string;
  readonly email?: string | undefined;
  readonly login?: string | undefined;
}

/**
 * Whether a signer's name is that of the operator, or of a requester: `same` for the same address or name,
 * ignoring case and a plus tag, and for a bare name that is the local part of one of their addresses;
 * `namesake` for any other address with the same name (by name or login). A namesake may well be another
 * person, but a second address of the same person looks the same, and a false second person is worse than
 * having to make a name distinct. The local part of the operator's own address alone says nothing.
 */
export function resemblance(
  principal: string,
  requesters: readonly (string | undefined)[],
  { name, email, login }: Operator,
): 'same' | 'namesake' | undefined {
  const own = [...requesters, name, email, login].flatMap((word) => (word ? [folded(word)] : []));
  const listed = folded(principal);
  const local = beforeAt(listed);
  if (own.includes(listed)) return 'same';
  if (!listed.includes('@')) return own.map(beforeAt).includes(listed) ? 'same' : undefined;
  const bare = own.filter((word) => !word.includes('@'));
  const isCalledSo = bare.some(
    (word) => word === local || (letters(word) !== '' && letters(word) === letters(local)),
  );
  return isCalledSo ? 'namesake' : undefined;
}

function beforeAt(name: string): string {
  return name.split('@', 1)[0] ?? '';
}

/** Ignores case, other spellings of the same letters, and the tag that gives one mailbox many addresses. */
function folded(name: string): string {
  const plain = name.normalize('NFKC').trim().toLowerCase();
  const tag = /^([^@+]+)\+[^@]*(@.*)?$/s.exec(plain);
  return tag === null ? plain : `${tag[1]}${tag[2] ?? ''}`;
}

/** `Alice Smith` and `alice.smith` are one name. */
function letters(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '');
}
