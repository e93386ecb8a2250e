import type { Readable } from 'node:stream';
import type { Failure } from '../../machines/parts/failure.ts';
import type { Secret } from '../secret.ts';
import type { Skew } from './clock-skew.ts';
import type { Backup, BackupsConfig, InstanceOverview } from './schemas.ts';

/** A read answer: the parsed value and the service's own clock, for measuring skew. */
export interface Answer<T> {
  readonly value: T;
  readonly status: number;
  /** How far the service's clock is from ours, by its `Date` header; undefined when it sends none. */
  readonly skew: Skew | undefined;
}

/**
 * How a mutating call ended. It never rejects for anything that happens on the wire.
 * `refused`: it was not done: 401, 405, 407 or 429, or 400, 403, 404, 412, 422 in the service's own words.
 * `never-sent`: provably not a byte of the request left (unresolved name, refused connection, no token).
 * `unknown`: everything else (reset, timeout, 409, 5xx, redirect, unreadable answer): in doubt, ask the service.
 */
export type SendOutcome<T> =
  | {
      readonly outcome: 'accepted';
      readonly value: T;
      readonly status: number;
      readonly serverDate: Date | undefined;
    }
  | {
      readonly outcome: 'refused' | 'never-sent' | 'unknown';
      readonly failure: Failure;
      readonly serverDate: Date | undefined;
    };

/** What creating a backup gives back; a 202 of revision 61 may carry no id. */
export interface CreatedBackup {
  readonly id: number | undefined;
  readonly message: string | undefined;
}

export interface Download {
  readonly stream: Readable;
  /** `Content-Length`, when the service sends one. Bytes. */
  readonly length: number | undefined;
  readonly serverDate: Date | undefined;
}

export interface ConfigChange {
  readonly encryption_key?: Secret;
  readonly min_backup_count?: number;
  readonly retention_time?: number;
  readonly exclude_from_auto_backup?: boolean;
}

/**
 * One instance of the service (service-api.md section 4). Reads retry with jitter by themselves and reject with a
 * LifeboatError; mutating calls go once, on a fresh HTTP/1.1 connection, and tell how they ended.
 *
 * Codes: `credentials.missing`, `credentials.refused` (401), `service.forbidden` (403), `service.not-found` (404),
 * `service.conflict` (409), `service.precondition` (412), `service.invalid` (400, 422), `service.busy` (429),
 * `service.error` (5xx), `service.unreachable`, `service.timeout`, `service.reset`, `service.redirect`,
 * `service.bad-answer` (HTML, empty, truncated, not JSON, wrong shape), `service.too-large`.
 */
export interface ServiceClient {
  overview(signal?: AbortSignal): Promise<Answer<InstanceOverview>>;
  backups(signal?: AbortSignal): Promise<Answer<readonly Backup[]>>;
  backup(id: number, signal?: AbortSignal): Promise<Answer<Backup>>;
  backupsConfig(signal?: AbortSignal): Promise<Answer<BackupsConfig>>;
  /** The encrypted bytes, from `offset` when given (needs a 206 that matches, else rejects). */
  download(id: number, options?: { signal?: AbortSignal; offset?: number }): Promise<Download>;
  createBackup(signal?: AbortSignal): Promise<SendOutcome<CreatedBackup>>;
  /** Setting the same values again is harmless (service-api.md 4.1 rule 1), so a repeat of this call is allowed. */
  changeBackupsConfig(
    change: ConfigChange,
    signal?: AbortSignal,
  ): Promise<SendOutcome<{ message: string | undefined }>>;
  close(): Promise<void>;
}
