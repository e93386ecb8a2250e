import type { KeyEpoch } from '../../store/projections/key-epochs.ts';

/** A key by its fingerprint; never the key. Times RFC 3339. */
export interface KeyRow {
  readonly instance: string;
  readonly fingerprint: string;
  /** `unknown`: it is held, and no ledger names it. */
  readonly state: KeyEpoch['state'] | 'unknown';
  readonly isHeld: boolean;
  /** Since when it is or was in force. */
  readonly setAt: string | undefined;
  /** Until when it can have been in force. */
  readonly endedAt: string | undefined;
  readonly provenAt: string | undefined;
  /** How many backups were opened with it, as far as the record goes. */
  readonly provenBackups: number;
  /** Whether the config names its instance. */
  readonly isConfigured: boolean;
}

/** The keys of every instance. */
export interface KeysFacts {
  /** Which key store, in words. */
  readonly store: string;
  readonly rows: readonly KeyRow[];
  /** Why the journal cannot be read: nothing is known of states then. */
  readonly unread?: string | undefined;
}
