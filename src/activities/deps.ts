import type { LastSeen } from '../../machines/parts/recovery-data.ts';
import type { Secret } from '../base/secret.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { NoPlatform, Platform } from '../platform/platform.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Ledger } from '../store/projections/ledgers.ts';
import type { LedgerFact } from './activity.ts';

/** One set for each run, built by the composition root. */
export interface ActivityDeps {
  readonly service: ServiceClient;
  readonly keyring: Keyring;
  /** For downloaded backups; created on first use, readable only by its owner. */
  readonly folder: string;
  /** A lost request may still arrive for this time. Milliseconds. */
  readonly inFlightMs: number;
  /** By the instance's ledger. */
  readonly currentKey: () => Promise<string | undefined>;
  /** Undefined if the config asks for no sealed copies. */
  readonly escrow?:
    | {
        readonly places: readonly string[];
        readonly recipients: readonly string[];
        /** Why no key can go into escrow now; undefined if one can. */
        readonly lack: () => Promise<string | undefined>;
        /**
         * Writes the copies into every folder and reads them back. Resolves with the fact that is the copy in
         * the store: until it is on record, the key is not in escrow.
         */
        readonly seal: (fingerprint: string, key: Secret) => Promise<LedgerFact>;
      }
    | undefined;
  /** If the access token says so. RFC 3339. */
  readonly tokenExpires: () => Promise<string | undefined>;
  /** Entered by the operator and not stored yet. */
  readonly inHand: (fingerprint: string) => Secret | undefined;
  /** In the config; its ledger and keys use this name. */
  readonly name: string;
  /** As it is now. */
  readonly ledger: () => Promise<Ledger>;
  /** As this machine listed it last. */
  readonly lastSeen: () => LastSeen | undefined;
  /** Bound again after a restore, even if the platform does not know them. Undefined if none is named. */
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
  /** The platform knows the instance by this address. */
  readonly dashboardUrl: string;
  /** Opened on first use, once for each run. */
  readonly platform: () => Promise<Platform | NoPlatform>;
  readonly reconcile:
    | {
        readonly command: string;
        readonly timeoutMs: number;
        /** Variables with tokens; withheld from the command. */
        readonly hideEnv?: readonly string[];
      }
    | undefined;
  /** Variables with tokens; withheld from every command of the config. */
  readonly hideEnv: readonly string[];
  /** Removes the secrets that this process has used. */
  readonly blank: (text: string) => string;
  readonly objectives: { readonly rtoMs?: number | undefined; readonly rpoMs?: number | undefined };
  /** A lab or scratch instance. */
  readonly rehearsal: boolean;
}

/** For steps of a plan that run no runbook. */
export interface OutsideDeps {
  /** The instance of the lane, or the plan. */
  readonly instance: string;
  /** Variables with tokens; withheld from every program. */
  readonly hideEnv: readonly string[];
  /** `timeout` in milliseconds. */
  readonly reconcile: { readonly command: string; readonly timeout: number } | undefined;
  /** To one target of the config, or to all. Resolves with the names of those that took it. */
  readonly tell: (to: string | undefined, text: string, signal: AbortSignal) => Promise<readonly string[]>;
}
