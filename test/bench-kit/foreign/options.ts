import type { Answer, Call, Heard, Trouble } from './call.ts';
import type { Packing, Profile } from './pack.ts';

export type Revision = 61 | 62 | 'v0';

/**
 * How far it goes with what the document leaves open. `plain`: every field of its tables and only its words,
 * as an auditor would check them. `odd`: besides, what is not known yet is missing or null, names stay away,
 * bodies that are not described are strange, and a status occurs that the document does not know.
 */
export type Taste = 'plain' | 'odd';

export interface InstanceSpec {
  readonly name: string;
  /**
   * The id in the paths. Default: one that looks like none in a document, and a GUID when the taste is plain.
   */
  readonly guid?: string;
  /** Continuous archiving, and with it PITR (section 4.1 rule 4). Default false. */
  readonly archiving?: boolean;
  /**
   * The key that is in force at the start. Without one the service takes one of its own, and nothing can be
   * downloaded.
   */
  readonly key?: string;
  /** How many backups there are at the start. Default none. */
  readonly backups?: number;
}

export interface ForeignOptions {
  /** Where data and backups are kept; exists. */
  readonly folder: string;
  readonly revision: Revision;
  readonly taste?: Taste;
  /**
   * Whether the ids of an instance's tasks follow each other. Default false: the document promises no more
   * than that they are integers.
   */
  readonly idsInRow?: boolean;
  /** Default: any free one. */
  readonly port?: number;
  readonly profile?: Profile;
  /** Who makes and opens the backups. Default: `tar` and `openssl`. */
  readonly packing?: Packing;
  /** The key that is in force at the start in the first of the default instances. */
  readonly key: string;
  /** The token that is accepted, with or without a scheme word before it. */
  readonly token: string;
  /** A token that may only read: 403 for every change. */
  readonly readOnlyToken?: string;
  /**
   * Default: `orders`, archiving and with one backup, and `orders-dr`, fresh. The first one is what `url` and
   * `keys` are about.
   */
  readonly instances?: readonly InstanceSpec[];
  /** How long a backup, a restore or a deployment takes. Milliseconds. */
  readonly taskMs?: number;
  /** How far the service's clock is ahead of this machine's, in every time it tells. Milliseconds. */
  readonly aheadMs?: number;
  /** How far what stamps tasks is ahead of that clock, as where local time is written with a Z. */
  readonly stampsAheadMs?: number;
  /** The key that backups are really written with, when it is not the one in force. */
  readonly writeWith?: () => string | undefined;
  /**
   * The method of the download below the dashboard address. Default when the taste is odd: GET in revision 62
   * (section 4.3), elsewhere POST, as in the reference of V0 (section 4.4). Default when it is plain: both.
   */
  readonly downloadBy?: 'GET' | 'POST' | 'both';
  /**
   * Whether a backup that was made before the last change of the key can still be downloaded. Default true.
   */
  readonly oldDownloads?: boolean;
  /**
   * Whether downloads can go on in the middle (RFC 9110 section 14). Default false: such a wish is ignored.
   */
  readonly ranges?: boolean;
  /** Asked at every call when its body is there, before anything is done. */
  readonly trouble?: (call: Call) => Trouble | undefined | Promise<Trouble | undefined>;
  /** Changes what is said, when everything is decided and done: other words, more of them, other headers. */
  readonly twist?: (call: Call, answer: Answer, heard: Heard) => Answer;
  /** Changes what is understood of a request, before anything is done. */
  readonly mishear?: (heard: Heard) => Heard;
}
