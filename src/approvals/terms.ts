import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import { readRunEntry } from '../store/run-entries.ts';
import { alreadyApproved, namesake, notAmong, type Request, starterCannot } from './refusals.ts';
import type { Verified } from './verify-signature.ts';

/** What a plan asks of an approval beside a valid signature by an allowed signer. */
export interface ApprovalTerms {
  /** The names in the file of allowed signers that count; undefined if all do. */
  readonly of?: readonly string[] | undefined;
  /** How long a request may be signed and used. Milliseconds. */
  readonly within: number;
  /** The effect of the expiry; an expired request never approves. */
  readonly onExpiry: 'pause' | 'ask-again' | 'stop';
  /** Every name on record of the person who started the plan; empty if that person may approve. */
  readonly starter: readonly string[];
  /** The lines of the file of allowed signers that count, as of the start of the plan; undefined: all. */
  readonly listed?: readonly string[] | undefined;
  /** How many approvals of the same quorum count so far. */
  readonly given: number;
}

/**
 * Throws the reason why a good signature does not count: `approval.refused` if the plan does not name the
 * signer, `approval.same-person` if they started the plan or have approved this before. Pure.
 */
export function assertMeetsTerms(
  signer: Pick<Verified, 'principals' | 'key' | 'listedAs' | 'namesOf'>,
  { of, starter, given }: ApprovalTerms,
  { entries, request }: { readonly entries: readonly Entry[]; readonly request: Request },
): void {
  const names = [...new Set([...signer.principals, ...signer.listedAs])];
  const said = show(signer.principals[0] ?? signer.key, 200);
  if (of !== undefined && !signer.principals.some((name) => of.includes(name)))
    throw notAmong(request, said, of);
  const isKnownAs = (known: readonly string[]) =>
    names.map((name) => resemblance(name, known, NOBODY)).find((found) => found !== undefined);
  const asStarter = isKnownAs(starter);
  if (asStarter === 'same') throw starterCannot(request, said);
  if (asStarter === 'namesake') throw namesake(request, said);
  for (const { approver, key } of lastGiven(entries, given)) {
    const asBefore = isKnownAs([...approver.split(','), ...signer.namesOf(key)]);
    if (key === signer.key || asBefore !== undefined) throw alreadyApproved(request, said);
  }
}

const NOBODY = { name: '' };

/** A bypassed approval counts as well, and has no name. */
function lastGiven(entries: readonly Entry[], given: number) {
  const counted = entries.flatMap((entry) => {
    const read = COUNTED.has(entry.type) ? readRunEntry(entry) : undefined;
    return read === undefined ? [] : [read];
  });
  return counted
    .slice(Math.max(0, counted.length - given))
    .flatMap((read) => (read.type === 'approval.given' ? [read.body] : []));
}

const COUNTED: ReadonlySet<string> = new Set(['approval.given', 'approval.bypassed']);

/** As named by the config, and by the system. */
export interface Operator {
  readonly name: string;
  readonly email?: string | undefined;
  readonly login?: string | undefined;
}

/**
 * Whether a signer's name is the operator's or a requester's: `same` for the same address or name, ignoring
 * case and a plus tag, and for a bare name that is the local part of one of their addresses; `namesake` for
 * any other address with the same name (by name or login). A namesake may be another person, but may also be
 * a second address of the same one, and a false second person is worse than having to make a name distinct.
 * The local part of the operator's own address alone says nothing.
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
