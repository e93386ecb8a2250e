import { msOf } from '../base/instant.ts';

export interface EscrowPolicy {
  readonly recipients: readonly { readonly recipient: string; readonly name?: string | undefined }[];
  /** How many holders must have shown that they can open a copy. */
  readonly atLeast: number;
  /** How long that counts. Milliseconds. */
  readonly proof: number;
  readonly places: readonly { readonly name: string }[];
}

/** A holder's newest opened challenge, and whose entry says so. */
interface OnRecord {
  readonly recipient: string;
  readonly provenAt?: string | undefined;
  readonly provenBy?: string | undefined;
}

export interface HolderState {
  readonly recipient: string;
  /** Or the beginning of the recipient. */
  readonly name: string;
  readonly provenAt?: string | undefined;
  readonly provenBy?: string | undefined;
  readonly state: 'proven' | 'expired' | 'never';
}

/** In the policy's order. Pure. */
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

/** Why the policy is not met for any key: too few holders have shown that they can open a copy. Pure. */
export function lackOfProof(policy: EscrowPolicy, holders: readonly HolderState[]): string | undefined {
  const proven = holders.filter(({ state }) => state === 'proven');
  if (proven.length >= policy.atLeast) return undefined;
  const open = holders.filter(({ state }) => state !== 'proven').map(({ name }) => name);
  return (
    `${proven.length} of the ${policy.atLeast} holders that the policy asks for have shown that they can open ` +
    `a copy: not ${open.join(', ')}`
  );
}

/** As far as it can be read. */
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

/** Why the policy is not met for a key. Pure. */
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

/** A loss, and the keys that no one could open after it. */
export interface Without {
  readonly what: string;
  readonly lost: readonly Pick<EscrowedEpoch, 'instance' | 'fingerprint'>[];
}

/** What is lost with this machine besides its keys. */
export interface OnMachine {
  /** Places of copies that are only on it, such as a store that no team shares. */
  readonly places: readonly string[];
  /** The recipients whose identities its key store has. */
  readonly recipients: readonly string[];
}

/**
 * What would be lost with this machine; with it and one place; with it and one person. A person counts for
 * every copy that is sealed to them: proof is reported separately. Pure.
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
