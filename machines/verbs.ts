import type { Check } from './parts/plan.ts';
import type * as recovery from './parts/recovery-data.ts';
import type * as parts from './parts/task-data.ts';

/**
 * After a crash, `read` and `repeatable` are done again with the same input, `once` is proven first, and
 * `attended` fails with `activity.lost`, so that a person decides.
 */
export type Kind = 'read' | 'repeatable' | 'once' | 'attended';

/**
 * `download`: only a backup's file on this machine; `backup` adds a backup; `restore` replaces the data of an
 * instance; `instance` acts on its machines; `key` sets the key of its backups; `settings` its settings;
 * `platform` its bindings; `outside` something that lifeboat does not know. `none` also writes the ledger or
 * the key store.
 */
export type Effect =
  | 'none'
  | 'download'
  | 'backup'
  | 'restore'
  | 'instance'
  | 'key'
  | 'settings'
  | 'platform'
  | 'outside';

/**
 * Machines invoke the verbs by these names, activities perform them, and the journal holds their input and
 * output: JSON without secrets.
 */
export const VERBS = {
  preflight: read<
    {
      instance: string;
      /** For a restore, which a failed instance may need: its state and a backup under way only warn. */
      tolerant?: boolean | undefined;
      /** Look for a restore under way, which always blocks. */
      restores?: boolean | undefined;
      /** A backup is to be opened: blocks without any key of the instance. */
      needsKey?: boolean | undefined;
    },
    parts.PreflightFacts
  >(),
  recheck: read<{ instance: string }, parts.Baseline>(),
  listBackups: read<Nothing, recovery.RestorableBackups>(),
  pitrRange: read<Nothing, recovery.ReachableRange>(),
  /** `when`: before or after the data is changed. */
  reconcile: read<On & { when: 'before' | 'after' }, recovery.Reconciliation>(),
  readCard: read<Nothing, recovery.CardOnRecord>(),
  inspectTarget: read<
    On & {
      source?: recovery.LostInstance | undefined;
      needBytes?: number | undefined;
      /** Applications to bind to the target: a mention in the config does not mean that they are bound. */
      apps?: readonly string[] | undefined;
    },
    recovery.TargetFacts
  >(),
  findBound: read<
    On & {
      restored: 'instance' | 'target';
      /** By name or key. */
      only?: readonly string[] | undefined;
      /** Found by an earlier call; kept if it is gone now. */
      remember?: recovery.Bound | undefined;
    },
    recovery.Bound
  >(),
  updatesChangeable: read<Nothing, { changeable: boolean; why?: string | undefined }>(),

  /** `needsKey`: asks only if a key of the instance is held. */
  createBackup: once<Sent & { needsKey?: boolean | undefined }, parts.Triggered>('backup'),
  /** `mustOpen`: fails if the service does not offer the backup for download. */
  waitForBackup: read<On & { id: number; mustOpen?: boolean | undefined }, parts.BackupFacts>(),
  downloadBackup: read<
    On & { id: number; size?: number | undefined; purpose: 'prove' | 'archive' },
    parts.DownloadedFile
  >('download'),
  verifyBackup: read<
    On & {
      path: string;
      backup: number;
      /** Tried before the other keys. */
      expected?: string | undefined;
      discard?: boolean | undefined;
      /** Put on record with the proof, because no later step of the run records it. */
      record?: parts.BackupFacts | undefined;
    },
    parts.Verification
  >('download'),
  negativeTest: read<{ path: string; except: string }, parts.NegativeTest>(),

  /** `backup` is the id within the instance; a call whose record is lost may lack it when it is judged. */
  restoreBackup: once<Sent & { backup: number }, parts.Triggered>('restore'),
  performRecovery: once<
    Sent & {
      /** The source's `backup_guid` for its newest backup, or the `backup_id` of one backup. */
      backupGuid: string;
      fingerprint: string;
      /** The instance under whose name the key is kept. A call whose record is lost may lack it. */
      source: string;
      /** Tells a colleague's recovery of another backup from ours when an answer is lost. */
      expectFrom?: recovery.ExpectedOrigin | undefined;
    },
    parts.Triggered
  >('restore'),
  /** `targetTime` is RFC 3339 with a zone. */
  restoreToTime: once<Sent & { targetTime: string }, parts.Triggered>('restore'),
  waitForRestore: read<On & { id: number }, parts.RestoreFacts>(),

  restart: once<Sent, parts.Started>('instance'),
  recreate: once<Sent, parts.Started>('instance'),
  /** `serviceId` is that of the service offering; default: that of the overview. */
  update: once<Sent & { serviceId?: string | undefined }, parts.Started>('instance'),
  waitForInstance: read<
    On & {
      /** The action, and the instance before it; without an action, the first steady state counts. */
      action?: 'restart' | 'recreate' | 'update' | undefined;
      updatedAt?: string | undefined;
      /** Offered before the action, each as one text. */
      updates?: readonly string[] | undefined;
    },
    parts.InstanceReady
  >(),
  changeBackupSettings: repeatable<{ settings: parts.BackupSettings }, parts.SettingsChange>('settings'),
  changeUpdateSetting: repeatable<{ setting: parts.UpdateSetting }, parts.UpdateSetting>('settings'),

  storeKey: repeatable<
    {
      origin: 'generated' | 'given';
      given?: { fingerprint: string; length: number } | undefined;
      minLength: number;
    },
    parts.StoredKey
  >('none'),
  readBackKey: read<{ key: parts.StoredKey }, parts.StoredKey>(),
  /** Seals the key to the recipients of the config and puts the copies into every place. */
  escrowKey: repeatable<{ fingerprint: string }, parts.EscrowedKey>('none'),
  setKey: repeatable<{ fingerprint: string; previous?: string | undefined }, parts.KeySetting>('key'),
  /** `fingerprint` is a stored key to set as well; without it the instance keeps its key. */
  prepareRecovery: repeatable<
    On & { fingerprint?: string | undefined; previous?: string | undefined },
    parts.RecoveryPreparation
  >('key'),

  /** `notBefore` of each step at the platform: the end of the restore. RFC 3339. */
  unbindApp: repeatable<{ app: recovery.BoundApp }, recovery.PlatformProof>('platform'),
  bindApp: repeatable<
    { app: recovery.BoundApp; to: recovery.PlatformInstance; notBefore: string; beside: boolean },
    recovery.PlatformProof
  >('platform'),
  restageApp: repeatable<{ app: recovery.BoundApp; notBefore: string }, recovery.PlatformProof>('platform'),
  renewServiceKey: repeatable<
    { key: recovery.ServiceKey; to: recovery.PlatformInstance; notBefore: string },
    recovery.PlatformProof
  >('platform'),
  /** `to` has the data now. Runs the application's own command, which may do harm if it runs again. */
  reconnectApp: attended<{ app: recovery.BoundApp; to: string }, recovery.PlatformProof>('platform'),
  /** By its own command if it has one, else by the platform. */
  proveApp: read<
    { app: recovery.BoundApp; to: recovery.PlatformInstance; notBefore: string },
    recovery.PlatformProof
  >(),

  recordCard: repeatable<On & { card: recovery.CardDraft }, Written>('none'),
  recordProof: repeatable<
    {
      backup: parts.BackupFacts;
      verification: parts.Verification;
      negative?: parts.NegativeTest | undefined;
    },
    Looked
  >('none'),
  recordRecovery: repeatable<On & { record: recovery.RecoveryRecord }, Looked>('none'),
  recordRotation: repeatable<{ record: parts.RotationRecord }, parts.Recorded>('none'),

  /** Asks for as long as the check's `within` says. */
  askOutside: read<
    { check: Check; timeoutMs?: number | undefined; retries?: number | undefined },
    parts.FoundOutside
  >(),
  runCommand: repeatable<
    { argv: readonly string[]; timeoutMs: number; retries?: number | undefined },
    parts.FoundOutside
  >('outside'),
  /** `landed` is a program that ends with 0 if it has happened, with 1 if not. */
  runOnce: once<
    Sent & { argv: readonly string[]; landed: readonly string[]; timeoutMs: number },
    parts.StartedOutside
  >('outside'),
  /** `to` is a target of the config; default: all of them. */
  tellPeople: repeatable<{ to?: string | undefined; text: string }, { told: readonly string[] }>('none'),
  waitFor: read<{ ms: number }, Nothing>(),
} as const;

export type Verbs = typeof VERBS;
export type Verb = keyof Verbs;
/** A table over them has a row for each, or does not compile. */
export type VerbOf<K extends Kind> = {
  [V in Verb]: Verbs[V] extends Contract<K, never, unknown> ? V : never;
}[Verb];

export type InputOf<V extends Verb> = Verbs[V] extends Contract<Kind, infer Input, unknown> ? Input : never;
export type OutputOf<V extends Verb> = Verbs[V] extends Contract<Kind, never, infer Output> ? Output : never;

/** They need no instance. */
export const OUTSIDE_VERBS = ['askOutside', 'runCommand', 'runOnce', 'tellPeople', 'waitFor'] as const;
export type OutsideVerb = (typeof OUTSIDE_VERBS)[number];

/** For a task of the service or for a time. */
export const RESTING_VERBS: ReadonlySet<string> = new Set<Verb>([
  'waitForBackup',
  'waitForRestore',
  'waitForInstance',
  'waitFor',
]);

/** They read whole backups, or run programs. */
export const BUSY_VERBS: ReadonlySet<string> = new Set<Verb>([
  'downloadBackup',
  'verifyBackup',
  'negativeTest',
  'reconcile',
  'reconnectApp',
  'proveApp',
  'askOutside',
  'runCommand',
  'runOnce',
]);

/** Undefined for an unknown verb. */
export function effectOf(verb: string): Effect | undefined {
  return Object.hasOwn(VERBS, verb) ? VERBS[verb as Verb].effect : undefined;
}

/** `types` is never set: it only carries the types. */
export interface Contract<K extends Kind, Input, Output> {
  readonly kind: K;
  readonly effect: Effect;
  readonly types?: (input: Input) => Output;
}

/** Acts on the run's target instead of its own instance. */
interface On {
  readonly on?: recovery.Side;
}

/** A new send needs a new intent id, which only the machine gives out. */
interface Sent extends On {
  readonly intent: string;
}

type Nothing = Readonly<Record<string, never>>;

interface Written {
  readonly recorded: true;
}

/** Looks at the service once more before the run closes. */
interface Looked extends Written {
  /** Tasks in the list beside those that were sent. */
  readonly beside?: parts.TaskBeside[] | undefined;
  readonly unlooked?: string | undefined;
}

function read<Input, Output>(effect: 'none' | 'download' = 'none'): Contract<'read', Input, Output> {
  return { kind: 'read', effect };
}

function repeatable<Input, Output>(effect: Effect): Contract<'repeatable', Input, Output> {
  return { kind: 'repeatable', effect };
}

function attended<Input, Output>(effect: Effect): Contract<'attended', Input, Output> {
  return { kind: 'attended', effect };
}

function once<Input extends Sent, Output>(effect: Effect): Contract<'once', Input, Output> {
  return { kind: 'once', effect };
}
