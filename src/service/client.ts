import type { Readable } from 'node:stream';
import type { Failure } from '../base/failure.ts';
import type { Secret } from '../base/secret.ts';
import type { Untrusted } from '../base/text.ts';
import type { Leave } from './call.ts';
import type { MetricPoint } from './metrics.ts';
import type { InterfaceLimits, Operation } from './revisions.ts';
import type { UnreadRow } from './rows.ts';
import type { Backup, BackupsConfig, InstanceOverview, PitrRange, Restore } from './schemas.ts';

/** A read answer: the parsed value and the service's own clock, for measuring skew. */
export interface Answer<T> {
  readonly value: T;
  /** The answer's JSON as it came, for whoever wants the service's own fields. Its texts are untrusted. */
  readonly raw: unknown;
  readonly status: number;
  /** How far the service's clock is from ours, by its `Date` header; undefined when it sends none. */
  readonly skew: Skew | undefined;
  /** The rows of a list that could not be read; without it, there are none. */
  readonly unread?: readonly UnreadRow[] | undefined;
}

/**
 * How a mutating call ended. It never rejects for anything that happens on the wire. `accepted`: a documented
 * status, or another 2xx that fits; what its body does not tell is undefined. `refused`: an answer says that
 * it was not done: 401, 405, 407 or 429, or 400, 403, 404, 412, 422 in the service's own words. `never-sent`:
 * provably not a byte of the request left (unresolved name, refused connection, no token, a call that the
 * revision lacks, a listing of V0 that could not be read first). `unknown`: everything else (reset, timeout,
 * 409, 5xx, redirect, unreadable answer): in doubt, ask the service.
 */
export type SendOutcome<T> =
  | {
      readonly outcome: 'accepted';
      readonly value: T;
      /** The answer's JSON as it came, the call's secrets blanked; undefined for none. Untrusted. */
      readonly raw: unknown;
      readonly status: number;
      readonly serverDate: Date | undefined;
    }
  | {
      readonly outcome: 'refused' | 'never-sent' | 'unknown';
      readonly failure: Failure;
      /**
       * Set where the call was turned away with 429, before it was looked into: after so many milliseconds it
       * may be sent once more. Not set where the service wishes to be left alone for longer than a read would
       * wait.
       */
      readonly againMs?: number;
      readonly serverDate: Date | undefined;
    };

/** What creating a backup gives back; a 202 of revision 61 may carry no id. */
interface CreatedBackup {
  readonly id: number | undefined;
  readonly message: string | undefined;
}

export interface Download {
  readonly stream: Readable;
  /**
   * At which byte of the file the stream begins: the asked offset, or 0 when the service sends the file anew.
   */
  readonly offset: number;
  /** `Content-Length`, the bytes of this stream, when the service sends one. */
  readonly length: number | undefined;
  /** Bytes of the whole file, when the service tells. */
  readonly total: number | undefined;
  /**
   * Whether the answer itself says where it ends, by a length or in chunks (RFC 9112 section 6.3). Without, a
   * connection that breaks looks like the end.
   */
  readonly framed: boolean;
  /** Whether the service says that it can go on from an offset. */
  readonly acceptsRanges: boolean;
  /** What `ifRange` takes: a strong one (RFC 9110 section 8.8.1). Undefined without. */
  readonly etag: Untrusted | undefined;
  /** `ETag` and `Last-Modified` as they came. Where they differ, so may the bytes. */
  readonly marks: { readonly etag?: Untrusted; readonly modified?: Untrusted };
  readonly serverDate: Date | undefined;
}

export interface DownloadOptions {
  /** Not by POST, which an earlier reference of V0 has: for a look that sends only GETs. */
  readonly onlyGet?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The bytes that are there already. Default 0. */
  readonly offset?: number | undefined;
  /**
   * The `etag` of the answer that they came from: a file that has changed since is sent from its beginning.
   */
  readonly ifRange?: string | undefined;
}

interface ConfigChange {
  readonly encryption_key?: Secret;
  readonly min_backup_count?: number;
  readonly retention_time?: number;
  readonly exclude_from_auto_backup?: boolean;
}

/** `allowed_update_time` of revision 61 (section 2.5). */
export interface UpdateSetting {
  readonly type: string;
  readonly allowed: boolean;
}

/** What starts an action of the instance gives back: nothing that is described (endpoints 13 to 15). */
export interface StartedAction {
  readonly message: Untrusted | undefined;
}

/**
 * One instance of the service (service-api.md section 4). Reads retry with jitter by themselves and reject
 * with a LifeboatError; mutating calls go once, on a fresh HTTP/1.1 connection, and tell how they ended;
 * `leave` is asked at the last instant.
 *
 * Codes: `credentials.missing`, `credentials.refused` (401), `service.forbidden` (403), `service.not-found`
 * (404), `service.conflict` (409), `service.precondition` (412), `service.invalid` (400, 422), `service.busy`
 * (429), `service.error` (5xx), `service.unreachable`, `service.timeout`, `service.reset`,
 * `service.redirect`, `service.stopped`, `service.bad-answer` (HTML, empty, truncated, not JSON, wrong
 * shape), `service.too-large`, and `service.unsupported` for what the instance's revision does not have: then
 * nothing is sent.
 */
export interface ServiceClient {
  /** What the instance's interface leaves unsaid; undefined where it is V1. */
  readonly limits: InterfaceLimits | undefined;
  /** Whether the instance's revision has a call; one that it lacks ends with `service.unsupported`. */
  supports(operation: Operation): boolean;
  /** Throws `service.unsupported` for a call that the revision lacks. */
  require(operation: Operation): void;
  /**
   * Reads the token that the next mutating call takes, so that the call need not wait for it: between what is
   * on disk as its beginning and its first byte nothing slow should stand. Rejects with
   * `credentials.missing`.
   */
  ready(signal?: AbortSignal): Promise<void>;
  overview(signal?: AbortSignal): Promise<Answer<InstanceOverview>>;
  backups(signal?: AbortSignal): Promise<Answer<readonly Backup[]>>;
  backup(id: number, signal?: AbortSignal): Promise<Answer<Backup>>;
  restores(signal?: AbortSignal): Promise<Answer<readonly Restore[]>>;
  restore(id: number, signal?: AbortSignal): Promise<Answer<Restore>>;
  backupsConfig(signal?: AbortSignal): Promise<Answer<BackupsConfig>>;
  /**
   * The latest `quantity` elements (at least 1), all without it. Lines that are no data point are left out.
   */
  metrics(options?: {
    readonly quantity?: number;
    readonly signal?: AbortSignal;
  }): Promise<Answer<readonly MetricPoint[]>>;
  /** Rejects with `service.not-found` where there is no continuous archiving (section 4.1 rule 4). */
  pitrRange(signal?: AbortSignal): Promise<Answer<PitrRange>>;
  /**
   * The encrypted bytes, from `offset` when given. A service that does not go on from there sends the whole
   * file: then `Download.offset` is 0 and what was there is to be thrown away. Another range than the asked
   * one rejects. So does, with `service.bad-answer`, what begins neither as an encrypted backup nor as gzip,
   * and what is encoded although that was not asked for: of that nothing is handed out. An empty file is
   * handed out.
   */
  download(id: number, options?: DownloadOptions): Promise<Download>;
  createBackup(leave?: Leave): Promise<SendOutcome<CreatedBackup>>;
  /** Restores a backup of the instance into it (endpoint 7). The id is that of the restore. */
  restoreBackup(id: number, leave?: Leave): Promise<SendOutcome<{ readonly id: number | undefined }>>;
  /** Setting the same again is harmless (service-api.md 4.1 rule 1): this call may be repeated. */
  changeBackupsConfig(
    change: ConfigChange,
    leave?: Leave,
  ): Promise<SendOutcome<{ message: string | undefined }>>;
  /** Endpoint 10. With a key it changes the instance's key, like `changeBackupsConfig`. */
  prepareRecovery(
    options?: { readonly key?: Secret | undefined },
    leave?: Leave,
  ): Promise<SendOutcome<{ readonly backupGuid: Untrusted | undefined }>>;
  /**
   * Endpoint 11, on the target. `backupGuid` may be a `backup_id`, which recovers that backup (domain: fork).
   */
  performRecovery(
    options: { readonly backupGuid: string; readonly key: Secret },
    leave?: Leave,
  ): Promise<SendOutcome<{ readonly restoreId: number | undefined }>>;
  recreate(leave?: Leave): Promise<SendOutcome<StartedAction>>;
  restart(leave?: Leave): Promise<SendOutcome<StartedAction>>;
  /** Endpoint 15. `serviceId` is the overview's `service_id`. */
  update(options: { readonly serviceId: string }, leave?: Leave): Promise<SendOutcome<StartedAction>>;
  /**
   * Revision 61 only (section 4.2 item 6): allows or forbids maintenance updates. Repeating it is harmless.
   */
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

/** How far the service's clock is from this machine's. */
export interface Skew {
  /** Milliseconds the service is ahead; negative when it is behind. The middle of what is possible. */
  readonly skewMs: number;
  /** The true value is no further than this from `skewMs`. */
  readonly uncertaintyMs: number;
}

/**
 * Bounds the clock skew from one answer. The `Date` header (RFC 9110 section 6.6.1) is cut to whole seconds
 * and was written at some moment between sending and receiving, so the truth lies in `(date - received, date
 * + 1 s - sent]`.
 */
export function skewMs(serverDate: Date, sentAt: Date, receivedAt: Date): Skew {
  const least = serverDate.getTime() - receivedAt.getTime();
  const most = serverDate.getTime() + 1000 - sentAt.getTime();
  return { skewMs: (least + most) / 2, uncertaintyMs: (most - least) / 2 };
}
