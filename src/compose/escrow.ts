import { isoOf } from '../base/date.ts';
import { EXIT, LifeboatError } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import { show } from '../base/text.ts';
import type { EscrowConfig } from '../config/loaded.ts';
import type { EscrowCopy } from '../keys/escrow-copy.ts';
import type { FolderOfCopies } from '../keys/escrow-places.ts';
import { type HolderState, holderStates, lackOfProof } from '../keys/escrow-policy.ts';
import type { Keyring } from '../keys/key-store.ts';
import { HOLDERS_STREAM, type JournalReader, type NewEntry } from '../store/journal.ts';
import { custodyEntry } from '../store/projections/custody.ts';
import { readLedger } from '../store/projections/ledgers.ts';

export interface Escrow {
  readonly policy: EscrowConfig;
  /** Who has shown when that they can open a copy. */
  holders(): Promise<readonly HolderState[]>;
  /**
   * Seals a held key to all recipients, writes it to every folder and reads it back. Resolves with the entry
   * that puts it on record, which is also its copy in the store; until that is appended the key is not in
   * escrow. Rejects with `escrow.unproven` before anything is written, where too few holders have shown that
   * they can open a copy, with `escrow.place`, and with `escrow.bad-recipient`. If the process dies inside,
   * some folders have the copy; sealing again replaces it.
   */
  seal(instance: string, fingerprint: string, key: Secret, how?: SealHow): Promise<NewEntry>;
}

interface SealHow {
  /** Whether the policy must be met: not for a key added by hand, which is better sealed than not. */
  readonly strict?: boolean;
}

type Deps = {
  readonly journal: Pick<JournalReader, 'read' | 'rows'>;
  readonly keyring: Keyring;
};

export function escrowOf(policy: EscrowConfig, { journal, keyring }: Deps): Escrow {
  const holders = async () => holdersOf(policy, journal);
  return {
    policy,
    holders,
    seal: async (instance, fingerprint, key, { strict = true } = {}) => {
      const { sealCopy } = await import('../keys/escrow-copy.ts');
      const { writeCopy } = await import('../keys/escrow-places.ts');
      const lack = lackOfProof(policy, await holders());
      if (strict && lack !== undefined) throw unproven(lack);
      const { epochs } = await readLedger(journal, instance);
      const at = epochs.findIndex((one) => one.fingerprint === fingerprint);
      const sealed: EscrowCopy = await sealCopy(
        {
          ...{ instance, fingerprint, key },
          epoch: (at === -1 ? epochs.length : at) + 1,
          fingerprintSecret: await keyring.secretOf(fingerprint, key),
        },
        policy.recipients.map(({ recipient }) => recipient),
        isoOf(Date.now()),
      );
      const places: { place: string; sha256?: string }[] = [];
      for (const { name, folder } of policy.places)
        places.push(
          folder === undefined ? { place: name } : { place: name, sha256: await writeCopy(folder, sealed) },
        );
      const inStore = policy.places.some(({ folder }) => folder === undefined);
      return custodyEntry(instance, 'custody.escrowed', {
        ...{ fingerprint, epoch: sealed.epoch, recipients: [...sealed.recipients], places },
        ...(inStore ? { sealed: sealed.sealed, at: sealed.sealedAt } : {}),
      });
    },
  };
}

/** The holders of a policy, by the record. */
export async function holdersOf(
  policy: EscrowConfig,
  journal: Pick<JournalReader, 'read'>,
): Promise<readonly HolderState[]> {
  const { foldHolders } = await import('../store/projections/holders.ts');
  return holderStates(policy, foldHolders(await journal.read(HOLDERS_STREAM)), Date.now());
}

function unproven(lack: string): LifeboatError {
  return new LifeboatError('escrow.unproven', `the key cannot go into escrow: ${show(lack, 400)}`, {
    hints: [
      'nothing was sent to the service, and the key in force is unchanged',
      'each of them runs `lifeboat keys escrow prove`; then try again',
      '`lifeboat keys escrow check` shows what is missing',
    ],
    exitCode: EXIT.waiting,
  });
}

/** A copy as it was found: in a place, with its file if it is in a folder. */
export interface PlacedCopy {
  readonly place: string;
  readonly path: string | undefined;
  readonly copy: EscrowCopy;
}

export interface Copies {
  readonly copies: readonly PlacedCopy[];
  readonly broken: readonly { readonly place: string; readonly path: string; readonly why: string }[];
  readonly unread: readonly { readonly place: string; readonly why: string }[];
}

/** Reports a place that cannot be read; it hides no other. */
export async function copiesIn(
  places: EscrowConfig['places'],
  journal: Pick<JournalReader, 'read'> | undefined,
  instances: readonly string[] | undefined,
): Promise<Copies> {
  const { readCopies } = await import('../keys/escrow-places.ts');
  const found: {
    copies: PlacedCopy[];
    broken: Copies['broken'][number][];
    unread: Copies['unread'][number][];
  } = {
    copies: [],
    broken: [],
    unread: [],
  };
  for (const { name: place, folder } of places) {
    try {
      if (folder === undefined) {
        for (const instance of instances ?? [])
          for (const copy of await storedCopies(journal, instance))
            found.copies.push({ place, path: undefined, copy });
        continue;
      }
      const parts: FolderOfCopies[] =
        instances === undefined
          ? [await readCopies(folder)]
          : await Promise.all(instances.map((instance) => readCopies(folder, instance)));
      for (const { copies, broken } of parts) {
        found.copies.push(...copies.map((one) => ({ ...one, place })));
        found.broken.push(...broken.map((one) => ({ ...one, place })));
      }
    } catch (thrown) {
      if (!(thrown instanceof LifeboatError)) throw thrown;
      found.unread.push({ place, why: thrown.shortMessage });
    }
  }
  return found;
}

/** The newest copy of each key in the ledger of an instance. */
async function storedCopies(
  journal: Pick<JournalReader, 'read'> | undefined,
  instance: string,
): Promise<readonly EscrowCopy[]> {
  const newest = new Map<string, EscrowCopy>();
  for (const { type, body, at } of (await journal?.read(`instance/${instance}`)) ?? []) {
    if (type !== 'custody.escrowed') continue;
    const { fingerprint, epoch, recipients, sealed } = body as {
      readonly fingerprint: string;
      readonly epoch: number;
      readonly recipients: readonly string[];
      readonly sealed?: string;
    };
    if (typeof sealed !== 'string') continue;
    newest.set(fingerprint, { instance, fingerprint, epoch, recipients, sealed, sealedAt: at });
  }
  return [...newest.values()];
}

export interface Opened {
  readonly opened: readonly {
    readonly instance: string;
    readonly fingerprint: string;
    readonly place: string;
    readonly isNew: boolean;
  }[];
  readonly failed: readonly {
    readonly place: string;
    readonly path: string | undefined;
    readonly instance: string;
    readonly fingerprint: string;
    readonly code: string;
    readonly why: string;
  }[];
}

/**
 * Opens copies with these identities and puts their keys into the key store, under the fingerprints that the
 * record has. Each key is tried from one place after another until one copy opens. Nothing is overwritten. If
 * the process dies inside, some keys are held; opening again adds the rest.
 */
export async function openCopies(
  copies: readonly PlacedCopy[],
  identities: readonly Secret[],
  { keyring, guard }: { readonly keyring: Keyring; readonly guard: (secret: Secret) => void },
): Promise<Opened> {
  const { openCopy } = await import('../keys/escrow-copy.ts');
  const opened: Opened['opened'][number][] = [];
  const failed: Opened['failed'][number][] = [];
  for (const group of Map.groupBy(copies, ({ copy }) => `${copy.instance}/${copy.fingerprint}`).values()) {
    for (const { place, path, copy } of group) {
      const { instance, fingerprint } = copy;
      try {
        const { key, fingerprintSecret } = await openCopy(copy, identities);
        guard(key);
        if (fingerprintSecret !== undefined) {
          guard(fingerprintSecret);
          await keyring.learn(fingerprintSecret);
        }
        const isNew = (await keyring.load(instance, fingerprint)) === undefined;
        await keyring.adopt(instance, fingerprint, key);
        opened.push({ instance, fingerprint, place, isNew });
        break;
      } catch (thrown) {
        if (!(thrown instanceof LifeboatError)) throw thrown;
        failed.push({ place, path, instance, fingerprint, code: thrown.code, why: thrown.shortMessage });
      }
    }
  }
  return { opened, failed };
}
