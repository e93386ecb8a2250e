import type { Keyring } from '../keys/key-store.ts';
import type { Secret } from '../secret.ts';
import type { ServiceClient } from '../service/client.ts';

/** What the verbs of one run act on. Built by the composition root, one set for each run. */
export interface ActivityDeps {
  readonly service: ServiceClient;
  readonly keyring: Keyring;
  /** Folder for downloaded backups of this instance; made on first use, readable by its owner only. */
  readonly folder: string;
  /** How long a lost request may still arrive. Milliseconds. */
  readonly settleMs: number;
  /** The fingerprint that the instance's ledger believes to be in force. */
  readonly currentKey: () => Promise<string | undefined>;
  /** When the access token expires, if it says so. RFC 3339. */
  readonly tokenExpires: () => Promise<string | undefined>;
  /** A key the operator has just entered, until it is stored. */
  readonly inHand: (fingerprint: string) => Secret | undefined;
}
