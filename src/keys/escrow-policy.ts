import { msOf } from '../base/instant.ts';

/** What a config asks of the escrow of every key. */
export interface EscrowPolicy {
  readonly recipients: readonly { readonly recipient: string; readonly name?: string | undefined }[];
  /** How many holders have to have shown that they can open a copy. */
  readonly atLeast: number;
  /** How long that counts, in milliseconds. */
  readonly proof: number;
  readonly places: readonly { readonly name: string }[];
}

/** What is on record about a holder: when they last opened a challenge, and whose entry says so. */
interface OnRecord {
  readonly recipient: string;
  readonly provenAt?: string | undefined;
  readonly provenBy?: string | undefined;
}

/** A holder as the config names them, with their newest proof. */
export interface HolderState {
  readonly recipient: string;
  /** The name, or the beginning of the recipient. */
  readonly name: string;
  readonly provenAt?: string | undefined;
  readonly provenBy?: string | undefined;
  /** `never` shown, `expired`, or `proven`. */
  readonly state: 'proven' | 'expired' | 'never';
}

/** The holders of a policy, in its order. Pure. */
export function holderStates(
  { recipients, proof }: EscrowPolicy,
  onRecord: readonly OnRecord[],
  nowMs: number,
): readonly HolderState[] {
  return recipients.map(({ recipient, name }) => {
    const { provenAt, provenBy } = onRecord.find((one) => one.recipient === recipient) ?? {};
    const isFresh = provenAt !== undefined && nowMs - msOf(provenAt) <= proof;
    const state = provenAt === undefined ? 'never' : isFresh ? 'proven' : 'expired';
    return { recipient, name: name ?? `${recipient.slice(0, 12)}…`, provenAt, provenBy, state };
  });
}

/**
 * What keeps the policy from being met, whatever the key: too few holders have shown that they can open a
 * copy. Undefined if nothing does. Pure.
 */
export function lackOfProof(policy: EscrowPolicy, holders: readonly HolderState[]): string | undefined {
  const proven = holders.filter(({ state }) => state === 'proven');
  if (proven.length >= policy.atLeast) return undefined;
  const open = holders.filter(({ state }) => state !== 'proven').map(({ name }) => name);
  return (
    `${proven.length} of the ${policy.atLeast} holders that the policy asks for have shown that they can open ` +
    `a copy: not ${open.join(', ')}`
  );
}

/** A copy of a key in one place, as far as it can be read. */
export interface FoundCopy {
  readonly place: string;
  readonly recipients: readonly string[];
}

/** A key that is in use or was, and what of it is in escrow. */
export interface EscrowedEpoch {
  readonly instance: string;
  readonly fingerprint: string;
  readonly held: boolean;
  readonly copies: readonly FoundCopy[];
}

/** Why the policy is not met for a key; none if it is. Pure. */
export function lacksOf(policy: EscrowPolicy, { held, copies }: EscrowedEpoch): readonly string[] {
  const lacks: string[] = [];
  for (const { name } of policy.places) {
    const copy = copies.find(({ place }) => place === name);
    if (copy === undefined) {
      lacks.push(`no copy in ${name}`);
      continue;
    }
    const left = policy.recipients.filter(({ recipient }) => !copy.recipients.includes(recipient));
    if (left.length > 0)
      lacks.push(
        `${left.map((one) => one.name ?? one.recipient.slice(0, 12)).join(', ')} cannot open the copy in ${name}`,
      );
  }
  if (!held && copies.length === 0) lacks.push('it is not held here either');
  return lacks;
}

/** A loss to think through, and the keys that nobody could open after it. */
export interface Without {
  readonly what: string;
  readonly lost: readonly Pick<EscrowedEpoch, 'instance' | 'fingerprint'>[];
}

/** What is lost with this machine besides the keys that it holds. */
export interface OnMachine {
  /** The places of copies that are on it alone, such as a store that no team shares. */
  readonly places: readonly string[];
  /** The recipients whose identities its key store has. */
  readonly recipients: readonly string[];
}

/**
 * What would be lost with this machine; with this machine and one place; with this machine and one person. A
 * person counts as able to open a copy when it is sealed to them: whether they showed it is told beside.
 * Pure.
 */
export function losses(
  policy: EscrowPolicy,
  epochs: readonly EscrowedEpoch[],
  onMachine: OnMachine,
): readonly Without[] {
  const without = (what: string, gone: { readonly place?: string; readonly person?: string }): Without => {
    const opens = (recipient: string) =>
      recipient !== gone.person && !onMachine.recipients.includes(recipient);
    const remains = ({ place, recipients }: FoundCopy) =>
      place !== gone.place && !onMachine.places.includes(place) && recipients.some(opens);
    const lost = epochs.flatMap(({ instance, fingerprint, copies }) =>
      copies.some(remains) ? [] : [{ instance, fingerprint }],
    );
    return { what, lost };
  };
  return [
    without('this machine', {}),
    ...policy.places.map(({ name }) => without(`this machine and ${name}`, { place: name })),
    ...policy.recipients.map(({ recipient, name }) =>
      without(`this machine and ${name ?? `${recipient.slice(0, 12)}…`}`, { person: recipient }),
    ),
  ];
}
