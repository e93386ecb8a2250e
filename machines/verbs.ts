import type { Check } from './parts/plan.ts';
import type * as recovery from './parts/recovery-data.ts';
import type * as parts from './parts/task-data.ts';

/**
 * How a verb may be performed after a crash: `read` and `repeatable` are done again with the same input,
 * `once` is proven first, `attended` fails with `activity.lost`, so that a person decides.
 */
export type Kind = 'read' | 'repeatable' | 'once' | 'attended';

/**
 * What a verb changes: `download` only a backup's file on this machine; `backup` adds a backup; `restore`
 * replaces the data of an instance; `instance` acts on its machines; `key` sets the key of its backups;
 * `settings` its settings; `platform` what is bound to it; `outside` something that lifeboat does not know.
 * `none` also writes the ledger or the key store.
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
 * Every verb, once: what it takes and gives, how it may be performed again, what it changes. The machines
 * invoke them by these names, the activities perform them, the journal holds both. All of it is JSON, and no
 * secret is in it.
 */
export const VERBS = {
  preflight: read<
    {
      instance: string;
      /**
       * For a restore, which a failed instance may need: neither that state nor a backup under way blocks,
       * they warn.
       */
      tolerant?: boolean | undefined;
      /** Whether to look for a restore that is under way, which always blocks. */
      restores?: boolean | undefined;
      /** Whether it is about a backup that is to be opened: without any key of the instance it blocks. */
      needsKey?: boolean | undefined;
    },
    parts.PreflightFacts
  >(),
  recheck: read<{ instance: string }, parts.Baseline>(),
  listBackups: read<Nothing, recovery.RestorableBackups>(),
  pitrRange: read<Nothing, recovery.ReachableRange>(),
  /** `when`: whether the data is asked before it is changed or after. */
  reconcile: read<On & { when: 'before' | 'after' }, recovery.Reconciliation>(),
  readCard: read<Nothing, recovery.CardOnRecord>(),
  inspectTarget: read<
    On & {
      source?: recovery.LostInstance | undefined;
      needBytes?: number | undefined;
      /**
       * Applications that the run will bind to the target: that the config names them there does not mean
       * that they are bound.
       */
      apps?: readonly string[] | undefined;
    },
    recovery.TargetFacts
  >(),
  findBound: read<
    On & {
      restored: 'instance' | 'target';
      /** Only these applications, by name or key. */
      only?: readonly string[] | undefined;
      /** What an earlier call has found; kept where it is gone now. */
      remember?: recovery.Bound | undefined;
    },
    recovery.Bound
  >(),
  updatesChangeable: read<Nothing, { changeable: boolean; why?: string | undefined }>(),

  /** `needsKey`: it is asked for only where a key of the instance is held. */
  createBackup: once<Sent & { needsKey?: boolean | undefined }, parts.Triggered>('backup'),
  /** `mustOpen`: a backup that the service does not offer for download is a failure. */
  waitForBackup: read<On & { id: number; mustOpen?: boolean | undefined }, parts.BackupFacts>(),
  downloadBackup: read<
    On & { id: number; size?: number | undefined; purpose: 'prove' | 'archive' },
    parts.DownloadedFile
  >('download'),
  verifyBackup: read<
    On & {
      path: string;
      backup: number;
      /** The key that should open it; the others are tried after it. */
      expected?: string | undefined;
      discard?: boolean | undefined;
      /** The backup, where the proof goes on record at once: no later step of the run records it. */
      record?: parts.BackupFacts | undefined;
    },
    parts.Verification
  >('download'),
  negativeTest: read<{ path: string; except: string }, parts.NegativeTest>(),

  /** A call whose record is lost may lack `backup`, its id within the instance, when it is judged. */
  restoreBackup: once<Sent & { backup: number }, parts.Triggered>('restore'),
  performRecovery: once<
    Sent & {
      /** The source's `backup_guid` for its newest backup, or the `backup_id` of a certain one. */
      backupGuid: string;
      /** The key that the backup was made with. */
      fingerprint: string;
      /** The instance under whose name the key is kept. A call whose record is lost may lack it. */
      source: string;
      /** So that a colleague's recovery of another backup is not taken for ours when an answer is lost. */
      expectFrom?: recovery.ExpectedOrigin | undefined;
    },
    parts.Triggered
  >('restore'),
  /** `targetTime` is RFC 3339 with a zone. */
  restoreToTime: once<Sent & { targetTime: string }, parts.Triggered>('restore'),
  waitForRestore: read<On & { id: number }, parts.RestoreFacts>(),

  restart: once<Sent, parts.Started>('instance'),
  recreate: once<Sent, parts.Started>('instance'),
  /** `serviceId` is that of the service offering; the overview's own without it. */
  update: once<Sent & { serviceId?: string | undefined }, parts.Started>('instance'),
  waitForInstance: read<
    On & {
      /**
       * What was asked for, and how the instance was before; without an action its first steady state counts.
       */
      action?: 'restart' | 'recreate' | 'update' | undefined;
      updatedAt?: string | undefined;
      /** The updates that were offered before the action, each as one text. */
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
  /** Seals a stored key to the recipients of the config and puts the copies into every place. */
  escrowKey: repeatable<{ fingerprint: string }, parts.EscrowedKey>('none'),
  setKey: repeatable<{ fingerprint: string; previous?: string | undefined }, parts.KeySetting>('key'),
  /** `fingerprint` is a stored key to set with it; without one the instance keeps its key. */
  prepareRecovery: repeatable<
    On & { fingerprint?: string | undefined; previous?: string | undefined },
    parts.RecoveryPreparation
  >('key'),

  /** `notBefore`, of each step at the platform: the end of the restore. RFC 3339. */
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
  /**
   * `to`: the instance that has the data now. Runs the application's own command, which may do harm when it
   * runs again.
   */
  reconnectApp: attended<{ app: recovery.BoundApp; to: string }, recovery.PlatformProof>('platform'),
  /** By its own command where it has one, else by the platform. */
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

  /** Asks what a check of a plan names, for as long as its `within` says. */
  askOutside: read<
    { check: Check; timeoutMs?: number | undefined; retries?: number | undefined },
    parts.FoundOutside
  >(),
  runCommand: repeatable<
    { argv: readonly string[]; timeoutMs: number; retries?: number | undefined },
    parts.FoundOutside
  >('outside'),
  /** `landed`: the program that says whether it has happened: 0 if so, 1 if not. */
  runOnce: once<
    Sent & { argv: readonly string[]; landed: readonly string[]; timeoutMs: number },
    parts.StartedOutside
  >('outside'),
  /** `to`: a target of the config; all of them without it. */
  tellPeople: repeatable<{ to?: string | undefined; text: string }, { told: readonly string[] }>('none'),
  waitFor: read<{ ms: number }, Nothing>(),
} as const;

export type Verbs = typeof VERBS;
export type Verb = keyof Verbs;
/** The verbs of a kind: a table over them has a row for each, or does not compile. */
export type VerbOf<K extends Kind> = {
  [V in Verb]: Verbs[V] extends Contract<K, never, unknown> ? V : never;
}[Verb];

export type InputOf<V extends Verb> = Verbs[V] extends Contract<Kind, infer Input, unknown> ? Input : never;
export type OutputOf<V extends Verb> = Verbs[V] extends Contract<Kind, never, infer Output> ? Output : never;

/** The verbs of a plan's steps: they need no instance. */
export const OUTSIDE_VERBS = ['askOutside', 'runCommand', 'runOnce', 'tellPeople', 'waitFor'] as const;
export type OutsideVerb = (typeof OUTSIDE_VERBS)[number];

/** The verbs that do nothing but wait, for a task of the service or for a time. */
export const RESTING_VERBS: ReadonlySet<string> = new Set<Verb>([
  'waitForBackup',
  'waitForRestore',
  'waitForInstance',
  'waitFor',
]);

/** The verbs that keep this machine busy: they read whole backups, or run programs. */
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

/** What a verb changes, by its name in a journal; undefined for one that is not known here. */
export function effectOf(verb: string): Effect | undefined {
  return Object.hasOwn(VERBS, verb) ? VERBS[verb as Verb].effect : undefined;
}

/** A verb as the compiler knows it. `types` is never there: it only carries them. */
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

/** A record, and the last look at the service before the run closes. */
interface Looked extends Written {
  /** What the list shows beyond what was sent. */
  readonly beside?: parts.TaskBeside[] | undefined;
  /** Why the list could not be read. */
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
