import { show } from '../base/text.ts';
import type { Entry } from '../store/journal.ts';
import { readRunEntry } from '../store/run-entries.ts';
import { alreadyApproved, namesake, notAmong, type Request, starterCannot } from './refusals.ts';
import { resemblance } from './resemblance.ts';
import type { Verified } from './verify-signature.ts';

/** What a plan asks of an approval beside a valid signature by an allowed signer. */
export interface ApprovalTerms {
  /** The names in the file of allowed signers that count; undefined if all do. */
  readonly of?: readonly string[] | undefined;
  /** How long a request may be signed and used. Milliseconds. */
  readonly within: number;
  /** What happens by itself after that time; an expired request never approves. */
  readonly onExpiry: 'pause' | 'ask-again' | 'stop';
  /** Every name on record of the person who started the plan; empty if that person may approve. */
  readonly starter: readonly string[];
  /** The lines of the file of allowed signers that count, as of the start of the plan; undefined: all. */
  readonly listed?: readonly string[] | undefined;
  /** How many approvals of the same quorum count so far. */
  readonly given: number;
}

/**
 * Throws the reason why a good signature does not count: `approval.refused` for somebody whom the plan does
 * not name, `approval.same-person` for whoever started the plan or has approved the same before. Pure.
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

/** The approvals that count so far; one that was bypassed counts as well, and has nobody's name. */
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
