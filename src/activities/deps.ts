import type { LastSeen } from '../../machines/parts/recovery-data.ts';
import type { Secret } from '../base/secret.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { NoPlatform, Platform } from '../platform/platform.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Ledger } from '../store/projections/ledgers.ts';
import type { LedgerFact } from './activity.ts';

/** The dependencies of the verbs of one run. Built by the composition root, one set for each run. */
export interface ActivityDeps {
  readonly service: ServiceClient;
  readonly keyring: Keyring;
  /** Folder for downloaded backups of this instance; created on first use, readable only by its owner. */
  readonly folder: string;
  /** How long a lost request may still arrive. Milliseconds. */
  readonly inFlightMs: number;
  /** The fingerprint of the key that, by the instance's ledger, is in force. */
  readonly currentKey: () => Promise<string | undefined>;
  /** Sealed copies of keys; undefined where the config asks for none. */
  readonly escrow?:
    | {
        readonly places: readonly string[];
        /** The age recipients. */
        readonly recipients: readonly string[];
        /** What keeps a key from going into escrow now; undefined if nothing does. */
        readonly lack: () => Promise<string | undefined>;
        /**
         * Writes the copies into every folder and reads them back. Resolves with the fact that is the copy in
         * the store: until it is on record, the key is not in escrow.
         */
        readonly seal: (fingerprint: string, key: Secret) => Promise<LedgerFact>;
      }
    | undefined;
  /** When the access token expires, if it says so. RFC 3339. */
  readonly tokenExpires: () => Promise<string | undefined>;
  /** A key that the operator has just entered, until it is stored. */
  readonly inHand: (fingerprint: string) => Secret | undefined;
  /** The instance's name in the config, which its ledger and keys use. */
  readonly name: string;
  /** The present knowledge of this instance's ledger. */
  readonly ledger: () => Promise<Ledger>;
  /** The backups that this instance listed when this machine last looked. */
  readonly lastSeen: () => LastSeen | undefined;
  /**
   * The applications in the config; bound again after a restore, whether the platform knows them or not.
   * Undefined if the config names none.
   */
  readonly apps:
    | readonly {
        readonly name: string;
        readonly space?: string | undefined;
        readonly org?: string | undefined;
        readonly owner?: string | undefined;
        /** The team's own commands; `timeout` in milliseconds for each. */
        readonly reconnect?:
          | {
              readonly command: readonly string[];
              readonly proof: readonly string[];
              readonly timeout: number;
            }
          | undefined;
      }[]
    | undefined;
  /** The dashboard address by which the platform knows this instance. */
  readonly dashboardUrl: string;
  /** The platform, or why there is none. Opened on first use, once for each run. */
  readonly platform: () => Promise<Platform | NoPlatform>;
  /** The reconciliation command of the config. */
  readonly reconcile:
    | {
        readonly command: string;
        readonly timeoutMs: number;
        /** Environment variables with tokens; withheld from the command. */
        readonly hideEnv?: readonly string[];
      }
    | undefined;
  /** Environment variables with tokens; withheld from every command of the config. */
  readonly hideEnv: readonly string[];
  /** A text without the secrets that this process has used. */
  readonly blank: (text: string) => string;
  readonly objectives: { readonly rtoMs?: number | undefined; readonly rpoMs?: number | undefined };
  /** Whether the instance is a lab or scratch instance. */
  readonly rehearsal: boolean;
}

/** What the steps of a plan need that are no runbooks. */
export interface OutsideDeps {
  /** The instance of the lane, or the plan. */
  readonly instance: string;
  /** Environment variables with tokens; withheld from every program. */
  readonly hideEnv: readonly string[];
  /** The reconciliation command of the instance; `timeout` in milliseconds. */
  readonly reconcile: { readonly command: string; readonly timeout: number } | undefined;
  /** Sends a text to a target of the config, or to all. Resolves with the names of those that took it. */
  readonly tell: (to: string | undefined, text: string, signal: AbortSignal) => Promise<readonly string[]>;
}
