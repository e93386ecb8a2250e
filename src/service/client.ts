import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Failure } from '../base/failure.ts';
import type { Secret } from '../base/secret.ts';
import type { Untrusted } from '../base/text.ts';
import type { Leave } from './call.ts';
import type { MetricPoint } from './metrics.ts';
import type { InterfaceLimits, Operation } from './revisions.ts';
import type { UnreadRow } from './rows.ts';
import type { Backup, PLAIN_READS, Restore } from './schemas.ts';

/** With the service's own clock, to measure skew. */
export interface Answer<T> {
  readonly value: T;
  /** As received, for users who want the service's own fields. Its texts are untrusted. */
  readonly raw: unknown;
  readonly status: number;
  /** By the `Date` header; undefined without one. */
  readonly skew: Skew | undefined;
  /** Rows of a list that could not be read. */
  readonly unread?: readonly UnreadRow[] | undefined;
}

/**
 * Never rejects for anything on the network. `accepted`: a documented status, or another 2xx with a matching
 * body; fields missing from the body are undefined. `refused`: an answer says that it was not done: 401, 405,
 * 407 or 429, or 400, 403, 404, 412, 422 in the service's own words. `never-sent`: provably not a byte was
 * sent (unresolved name, refused connection, no token, a call that the revision lacks, a V0 listing that
 * could not be read first). `unknown`: everything else (reset, timeout, 409, 5xx, redirect, unreadable
 * answer): in doubt, ask the service.
 */
export type SendOutcome<T> =
  | {
      readonly outcome: 'accepted';
      readonly value: T;
      /** As received, with the call's secrets blanked; undefined without JSON. Untrusted. */
      readonly raw: unknown;
      readonly status: number;
      readonly serverDate: Date | undefined;
    }
  | {
      readonly outcome: 'refused' | 'never-sent' | 'unknown';
      readonly failure: Failure;
      /**
       * After a 429, which is rejected unprocessed: milliseconds until it may be sent once more. Not set if
       * the service asks for a longer pause than a read would wait.
       */
      readonly againMs?: number;
      readonly serverDate: Date | undefined;
    };

/** A 202 of revision 61 may have no id. */
interface CreatedBackup {
  readonly id: number | undefined;
  readonly message: string | undefined;
}

export interface Download {
  readonly stream: Readable;
  /** In the file: the requested offset, or 0 if the service sends the whole file again. */
  readonly offset: number;
  /** Bytes of this stream, by `Content-Length`. */
  readonly length: number | undefined;
  /** Bytes of the whole file, if the service says so. */
  readonly total: number | undefined;
  /**
   * The answer states its end, by a length or in chunks (RFC 9112 section 6.3). Otherwise a broken connection
   * looks like the end.
   */
  readonly framed: boolean;
  /** By the service's own header. */
  readonly acceptsRanges: boolean;
  /** For `ifRange`: a strong validator (RFC 9110 section 8.8.1). */
  readonly etag: Untrusted | undefined;
  /** As received. If they differ, the bytes may too. */
  readonly marks: { readonly etag?: Untrusted; readonly modified?: Untrusted };
  readonly serverDate: Date | undefined;
}

export interface DownloadOptions {
  /** Never the POST of an earlier V0 reference: for checks that send only GETs. */
  readonly onlyGet?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Bytes already downloaded. Default 0. */
  readonly offset?: number | undefined;
  /** The `etag` of their answer: a file that has changed since is sent from its beginning. */
  readonly ifRange?: string | undefined;
}

interface ConfigChange {
  readonly encryption_key?: Secret;
  readonly min_backup_count?: number;
  readonly retention_time?: number;
  readonly exclude_from_auto_backup?: boolean;
}

/** Revision 61 (section 2.5). */
export interface UpdateSetting {
  readonly type: string;
  readonly allowed: boolean;
}

/** The body is undocumented (endpoints 13 to 15). */
export interface StartedAction {
  readonly message: Untrusted | undefined;
}

/** `pitrRange` rejects with `service.not-found` without continuous archiving (section 4.1 rule 4). */
export type PlainReads = {
  readonly [Name in keyof typeof PLAIN_READS]: (
    signal?: AbortSignal,
  ) => Promise<Answer<z.infer<(typeof PLAIN_READS)[Name]>>>;
};

/**
 * Service-api.md section 4, for one instance. Reads are retried with jitter and reject with a LifeboatError;
 * mutating calls are sent once, on a new HTTP/1.1 connection, and report how they ended; `leave` is called at
 * the last instant.
 *
 * Codes: `credentials.missing`, `credentials.refused` (401), `service.forbidden` (403), `service.not-found`
 * (404), `service.conflict` (409), `service.precondition` (412), `service.invalid` (400, 422), `service.busy`
 * (429), `service.error` (5xx), `service.unreachable`, `service.timeout`, `service.reset`,
 * `service.redirect`, `service.stopped`, `service.bad-answer` (HTML, empty, truncated, not JSON, wrong
 * shape), `service.too-large`, and `service.unsupported` for what the revision lacks: then nothing is sent.
 */
export interface ServiceClient extends PlainReads {
  /**
   * An answer so far has said so (`lifeboat-lab: simulated`): there is no data behind the service, and
   * nothing done with it proves a recovery.
   */
  readonly isSimulated: () => boolean;
  /** Undefined for V1. */
  readonly limits: InterfaceLimits | undefined;
  /** A call that the revision lacks ends with `service.unsupported`. */
  supports(operation: Operation): boolean;
  /** Throws `service.unsupported` for a call that the revision lacks. */
  require(operation: Operation): void;
  /**
   * Reads the token for the next mutating call in advance, so that nothing slow stands between the record of
   * its beginning and its first byte. Rejects with `credentials.missing`.
   */
  ready(signal?: AbortSignal): Promise<void>;
  backups(signal?: AbortSignal): Promise<Answer<readonly Backup[]>>;
  backup(id: number, signal?: AbortSignal): Promise<Answer<Backup>>;
  restores(signal?: AbortSignal): Promise<Answer<readonly Restore[]>>;
  restore(id: number, signal?: AbortSignal): Promise<Answer<Restore>>;
  /**
   * Of the latest `quantity` elements (at least 1), or of all, those that are data points; only lines that
   * have the text `containing`, if it is given.
   */
  metrics(options?: {
    readonly quantity?: number;
    readonly containing?: string;
    readonly signal?: AbortSignal;
  }): Promise<Answer<readonly MetricPoint[]>>;
  /**
   * Encrypted, from `offset` if given. A service that cannot continue there sends the whole file: then
   * `Download.offset` is 0 and the earlier bytes must be discarded. Rejects for any other range, and with
   * `service.bad-answer` for a file that begins neither as an encrypted backup nor as gzip, or that is
   * encoded without a request for it: nothing of these is passed on. An empty file is passed on.
   */
  download(id: number, options?: DownloadOptions): Promise<Download>;
  createBackup(leave?: Leave): Promise<SendOutcome<CreatedBackup>>;
  /** Endpoint 7, into the same instance. The id is that of the restore. */
  restoreBackup(id: number, leave?: Leave): Promise<SendOutcome<{ readonly id: number | undefined }>>;
  /** Setting the same values again is harmless (service-api.md 4.1 rule 1): may be repeated. */
  changeBackupsConfig(
    change: ConfigChange,
    leave?: Leave,
  ): Promise<SendOutcome<{ message: string | undefined }>>;
  /** Endpoint 10. With a key it changes the instance's key, like `changeBackupsConfig`. */
  prepareRecovery(
    options?: { readonly key?: Secret | undefined },
    leave?: Leave,
  ): Promise<SendOutcome<{ readonly backupGuid: Untrusted | undefined }>>;
  /** Endpoint 11, on the target. A `backup_id` as `backupGuid` recovers that backup (domain: fork). */
  performRecovery(
    options: { readonly backupGuid: string; readonly key: Secret },
    leave?: Leave,
  ): Promise<SendOutcome<{ readonly restoreId: number | undefined }>>;
  recreate(leave?: Leave): Promise<SendOutcome<StartedAction>>;
  restart(leave?: Leave): Promise<SendOutcome<StartedAction>>;
  /** Endpoint 15. `serviceId` is the overview's `service_id`. */
  update(options: { readonly serviceId: string }, leave?: Leave): Promise<SendOutcome<StartedAction>>;
  /** Revision 61 only (section 4.2 item 6). Repeating it is harmless. */
  changeUpdateSetting(
    setting: UpdateSetting,
    leave?: Leave,
  ): Promise<SendOutcome<{ readonly setting: UpdateSetting | undefined }>>;
  /** Endpoint 18. `targetTime` is RFC 3339 with a zone. The answer names no restore: find it in the list. */
  restoreToTime(
    targetTime: string,
    leave?: Leave,
  ): Promise<SendOutcome<{ readonly status: Untrusted | undefined }>>;
  close(): Promise<void>;
}

export interface Skew {
  /** Milliseconds that the service's clock is ahead; negative if behind. The middle of the possible range. */
  readonly skewMs: number;
  /** The true value is within this distance of `skewMs`. */
  readonly uncertaintyMs: number;
}

/**
 * The `Date` header (RFC 9110 section 6.6.1) is truncated to whole seconds and was written between sending
 * and receiving, so the truth lies in `(date - received, date + 1 s - sent]`.
 */
export function skewMs(serverDate: Date, sentAt: Date, receivedAt: Date): Skew {
  const least = serverDate.getTime() - receivedAt.getTime();
  const most = serverDate.getTime() + 1000 - sentAt.getTime();
  return { skewMs: (least + most) / 2, uncertaintyMs: (most - least) / 2 };
}
