import { join } from 'node:path';
import type { ActivityDeps } from '../activities/deps.ts';
import { redact } from '../base/redact.ts';
import type { Secret } from '../base/secret.ts';
import type { EscrowConfig } from '../config/loaded.ts';
import { lackOfProof } from '../keys/escrow-policy.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { JournalReader } from '../store/journal.ts';
import { currentKey } from '../store/projections/key-epochs.ts';
import { foldLedger, readLedger } from '../store/projections/ledgers.ts';
import { escrowOf } from './escrow.ts';
import { backupsLastSeen } from './last-seen.ts';
import type { OpenInstance } from './service-of.ts';
import { expiryOf } from './service-of.ts';

export interface Setup {
  readonly home: string;
  /** Where verbs keep fetched files; default: the home. */
  readonly folder?: string;
  readonly keyring: Keyring;
  /** Undefined if nothing was ever written. */
  readonly journal: JournalReader | undefined;
  readonly platform: ActivityDeps['platform'];
  readonly escrow?: EscrowConfig | undefined;
  /** Redacts what this process has used; without it, only what looks like a credential. */
  readonly blank?: (text: string) => string;
  /** Keys that were entered and are not stored yet. */
  readonly pendingKeys?: ReadonlyMap<string, Secret>;
}

export function depsFor(instance: OpenInstance, setup: Setup): ActivityDeps {
  const { name, config, service } = instance;
  const { journal } = setup;
  const ledger = async () => (journal === undefined ? foldLedger([]) : readLedger(journal, name));
  return {
    name,
    service,
    keyring: setup.keyring,
    folder: join(setup.folder ?? setup.home, 'backups', name),
    inFlightMs: config.inFlight,
    currentKey: async () => currentKey((await ledger()).epochs)?.fingerprint,
    escrow: escrowFor(name, setup),
    tokenExpires: async () => expiryOf(await instance.token()),
    inHand: (fingerprint) => setup.pendingKeys?.get(fingerprint),
    ledger,
    lastSeen: () => backupsLastSeen(setup.home, name, config.url),
    apps: config.apps,
    dashboardUrl: config.url,
    platform: setup.platform,
    reconcile:
      config.reconcile === undefined
        ? undefined
        : {
            command: config.reconcile.command,
            timeoutMs: config.reconcile.timeout,
            hideEnv: instance.hideEnv,
          },
    hideEnv: instance.hideEnv,
    blank: setup.blank ?? redact,
    objectives: { rtoMs: config.objectives.rto, rpoMs: config.objectives.rpo },
    rehearsal: config.rehearsal,
  };
}

function escrowFor(instance: string, { escrow: policy, journal, keyring }: Setup): ActivityDeps['escrow'] {
  if (policy === undefined || journal === undefined) return undefined;
  const escrow = escrowOf(policy, { journal, keyring });
  return {
    places: policy.places.map(({ name }) => name),
    recipients: policy.recipients.map(({ recipient }) => recipient),
    lack: async () => lackOfProof(policy, await escrow.holders()),
    seal: async (fingerprint, key) => {
      const { type, body } = await escrow.seal(instance, fingerprint, key);
      return { type, body };
    },
  };
}

export async function noPlatform(): Promise<{ readonly none: string }> {
  return { none: 'this command does not look at the platform' };
}
