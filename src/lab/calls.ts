import { createHash } from 'node:crypto';
import type { Secret } from '../base/secret.ts';

/** A mutating call that the service carried out, whatever became of its answer. */
export interface Call {
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Method and path below the instance: `POST /backups`. */
  readonly endpoint: string;
  readonly instance: string;
  /**
   * What it did: the id that it made, the settings that it changed. A key appears as `sha256:` and 12 hex
   * digits.
   */
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

/** Makes a key recognisable in the ledger. */
export function keyMark(key: Secret): string {
  return `sha256:${createHash('sha256').update(key.reveal()).digest('hex').slice(0, 12)}`;
}
