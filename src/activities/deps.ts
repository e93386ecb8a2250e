import type { LastSeen } from '../../machines/parts/recovery-data.ts';
import type { Secret } from '../base/secret.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { NoPlatform, Platform } from '../platform/platform.ts';
import type { ServiceClient } from '../service/client.ts';
import type { Ledger } from '../store/projections/ledgers.ts';

/** What the verbs of one run act on. Built by the composition root, one set for each run. */
export interface ActivityDeps {
  readonly service: ServiceClient;
  readonly keyring: Keyring;
  /** Folder for downloaded backups of this instance; made on first use, readable by its owner only. */
  readonly folder: string;
  /** How long a lost request may still arrive. Milliseconds. */
  readonly inFlightMs: number;
  /** The fingerprint that the instance's ledger believes to be in force. */
  readonly currentKey: () => Promise<string | undefined>;
  /** When the access token expires, if it says so. RFC 3339. */
  readonly tokenExpires: () => Promise<string | undefined>;
  /** A key the operator has just entered, until it is stored. */
  readonly inHand: (fingerprint: string) => Secret | undefined;
  /** The instance's name in the config; its ledger and its keys go by it. */
  readonly name: string;
  /** What the ledger of this instance knows at this moment. */
  readonly ledger: () => Promise<Ledger>;
  /** The backups that this instance listed when this machine looked at it last. */
  readonly lastSeen: () => LastSeen | undefined;
  /**
   * As the config names them; bound again after a restore, whether the platform knows them or not. Undefined
   * where it says nothing of them.
   */
  readonly apps:
    | readonly {
        readonly name: string;
        readonly space?: string | undefined;
        readonly org?: string | undefined;
        readonly owner?: string | undefined;
        /** The team's own commands; each may take `timeout` milliseconds. */
        readonly reconnect?:
          | {
              readonly command: readonly string[];
              readonly proof: readonly string[];
              readonly timeout: number;
            }
          | undefined;
      }[]
    | undefined;
  /** The service's dashboard address of this instance, by which the platform knows it. */
  readonly dashboardUrl: string;
  /** The platform, or why there is none to be used. Opened on first use, once for each run. */
  readonly platform: () => Promise<Platform | NoPlatform>;
  /** The reconciliation command of the config. */
  readonly reconcile:
    | {
        readonly command: string;
        readonly timeoutMs: number;
        /** Variables of the environment that hold tokens; the command does not get them. */
        readonly hideEnv?: readonly string[];
      }
    | undefined;
  /** Variables of the environment that hold tokens; no command of the config gets them. */
  readonly hideEnv: readonly string[];
  /** A text without the secrets that this process has used. */
  readonly blank: (text: string) => string;
  readonly objectives: { readonly rtoMs?: number | undefined; readonly rpoMs?: number | undefined };
  /** Whether the instance is a lab or scratch instance. */
  readonly rehearsal: boolean;
}
