import type { PlatformRight } from '../../machines/parts/recovery-data.ts';
import { failureOf, LifeboatError } from '../base/errors.ts';
import { instantOf } from '../base/instant.ts';
import { TooSlow, within } from '../base/patience.ts';
import { show } from '../base/text.ts';
import { timeLimit } from '../base/time-limit.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import type { ServiceClient } from '../service/client.ts';
import { unreadWords } from '../service/rows.ts';
import type { Backup } from '../service/schemas.ts';
import type { SharedAccess } from '../service/shared-access.ts';
import {
  type BackupFit,
  type DiskFill,
  type EvaluationPolicy,
  type InstanceFacts,
  nothingAsked,
  type Part,
} from '../view/fleet/fleet-facts.ts';
import type { ListedBackup } from '../view/fleet/status-schema.ts';
import type { LastEvaluated } from './last-evaluated.ts';
import type { Listed } from './last-seen.ts';
import { openInstance, tokenValidity } from './service-of.ts';
import type { KeptFit } from './try-fit.ts';

export interface AskFleet {
  readonly config: LoadedConfig;
  readonly names: readonly string[];
  /** What the journal knows of an instance. Never rejects. */
  readonly recordOf: (name: string) => Promise<InstanceFacts['record']>;
  readonly last?: LastEvaluated;
  /** Opened on first use; may reject. */
  readonly keyring: () => Promise<Keyring>;
  /** Milliseconds for all answers of one instance. */
  readonly limitMs: number;
  readonly atOnce: number;
  /** Called with each instance when it begins to be asked. */
  readonly asking?: (name: string) => void;
  /** Called with each instance once it answered, in any order; the next is asked after its promise. */
  readonly answered: (facts: InstanceFacts) => void | Promise<void>;
  /** Called with the done backups that an instance lists, for when it is lost. Never rejects. */
  readonly remember?: (name: string, seen: Listed) => Promise<void>;
  /** What was kept of it. Never rejects. */
  readonly recall?: (name: string) => Promise<InstanceFacts['seen']>;
  /** The instances whose disks are asked for too, by one more GET. */
  readonly withDisk?: (name: string) => boolean;
  /** The instances whose restores are asked for too, by one more GET: the targets. */
  readonly isTarget?: (name: string) => boolean;
  /** What the platform's token may do with an instance; undefined where no platform is asked. May reject. */
  readonly rightOf?: ((name: string, signal: AbortSignal) => Promise<PlatformRight>) | undefined;
  /** Once it is aborted, no further instance is asked, and pending requests are dropped. */
  readonly signal?: AbortSignal;
}

/**
 * Asks every instance, by GETs alone, several at once, each with its own time limit. A part without an answer
 * has failed and says why; one instance never holds up another, and this never rejects.
 */
export async function askFleet(ask: AskFleet): Promise<void> {
  const { openSharedAccess } = await import('../service/shared-access.ts');
  const asking = { ...ask, access: openSharedAccess(), heldKeys: oncePerLook(ask.keyring) };
  const waiting = ask.names.values();
  const worker = async () => {
    for (const name of waiting) {
      if (ask.signal?.aborted) return;
      ask.asking?.(name);
      await ask.answered(await askInstance(asking, name));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(ask.atOnce, ask.names.length) }, worker));
  } finally {
    // Requests whose time was over are dropped in the background.
    void asking.access.close().catch(() => undefined);
  }
}

type Asking = AskFleet & {
  readonly access: SharedAccess;
  readonly heldKeys: () => Promise<HeldKeys>;
};

/** The keys that the store held when it was looked at, by instance. */
interface HeldKeys {
  readonly at: Date;
  readonly of: ReadonlyMap<string, readonly string[]>;
}

/**
 * Lists the key store at most once: a list of all keys for each of ten thousand instances would take longer
 * than their answers. After a failure the next instance asks again: a keychain can be unlocked by then.
 */
function oncePerLook(keyring: AskFleet['keyring']): () => Promise<HeldKeys> {
  let listed: Promise<HeldKeys> | undefined;
  const list = async () => ({ of: await (await keyring()).listAll(), at: new Date() });
  return () => {
    listed ??= list().catch((thrown: unknown) => {
      listed = undefined;
      throw thrown;
    });
    return listed;
  };
}

async function askInstance(ask: Asking, name: string): Promise<InstanceFacts> {
  const record = await ask.recordOf(name);
  const asked = askKeys(ask, name, record);
  const [service, held, right] = await Promise.all([
    askService(ask, name, { record, asked }),
    asked,
    askRight(ask, name),
  ]);
  const seen = service.backups.state === 'failed' ? await ask.recall?.(name) : undefined;
  const about = aboutOf(ask.config, name, ask.last ?? {});
  const known = { ...nothingAsked(about), ...service, right, record, held };
  return seen === undefined ? known : { ...known, seen };
}

async function askRight({ rightOf, limitMs, signal }: Asking, name: string): Promise<Part<PlatformRight>> {
  if (rightOf === undefined) return MISSING;
  const over = timeLimit(limitMs);
  const either = signal === undefined ? over : AbortSignal.any([signal, over]);
  return partOf(() => within(limitMs, () => rightOf(name, either)), limitMs);
}

type FromService = Pick<
  InstanceFacts,
  'overview' | 'token' | 'backups' | 'window' | 'disk' | 'fits' | 'restores'
>;

/** What is known of it without the service. */
interface Own {
  readonly record: InstanceFacts['record'];
  readonly asked: Promise<InstanceFacts['held']>;
}

async function askService(ask: Asking, name: string, own: Own): Promise<FromService> {
  const stop = new AbortController();
  const end = () => stop.abort();
  ask.signal?.addEventListener('abort', end);
  const over = performance.now() + ask.limitMs;
  const left = () => Math.max(1, over - performance.now());
  try {
    const opened = await within(left(), () =>
      openInstance(ask.config, name, {
        store: async () => (await ask.keyring()).store,
        access: ask.access,
      }),
    );
    const { service } = opened;
    try {
      const part = <Value>(act: () => Promise<Value>) => partOf(() => within(left(), act), ask.limitMs);
      const isDiskAsked = ask.withDisk?.(name) === true && service.supports('metrics');
      const [overview, token, backups, window, disk, restores] = await Promise.all([
        service.supports('overview') ? part(() => overviewOf(service, stop.signal)) : MISSING,
        part(() => tokenValidity(opened)),
        part(() => backupsOf(service, stop.signal)),
        service.supports('pitrRange') ? part(() => windowOf(service, stop.signal)) : MISSING,
        isDiskAsked ? part(() => diskOf(service, stop.signal)) : undefined,
        ask.isTarget?.(name) === true ? part(() => restoresOf(service, stop.signal)) : undefined,
      ]);
      const found = {
        ...{ overview, token, backups, window },
        ...(disk === undefined ? {} : { disk }),
        ...(restores === undefined ? {} : { restores }),
      };
      if (backups.state !== 'known') return found;
      const { done } = backups.value;
      const kept = (await ask.recall?.(name))?.fits ?? [];
      const tried = await part(() => fitsOf(ask, { name, service, done, kept, signal: stop.signal, ...own }));
      const fits = tried.state === 'known' ? tried.value : kept;
      await ask.remember?.(name, { done, at: backups.at, fits });
      return { ...found, fits: tried.state === 'known' ? { ...tried, value: fits.map(shownFit) } : tried };
    } finally {
      // Pending requests are dropped in the background.
      void service.close().catch(() => undefined);
    }
  } catch (thrown) {
    const failed = failedPart(thrown, ask.limitMs);
    return { overview: failed, token: failed, backups: failed, window: failed };
  } finally {
    ask.signal?.removeEventListener('abort', end);
  }
}

const MISSING = { state: 'missing' } as const;

/** No backup is tried if the instance's keys are unknown: this asks for no passphrase. */
async function fitsOf(
  ask: Asking,
  given: Own & {
    readonly name: string;
    readonly service: ServiceClient;
    readonly done: readonly ListedBackup[];
    readonly kept: readonly KeptFit[];
    readonly signal: AbortSignal;
  },
): Promise<readonly KeptFit[]> {
  const { name, record, asked, kept, ...about } = given;
  const held = await asked;
  if (record.state !== 'known' || held.state !== 'known') return kept;
  const [{ tryFit }, { keysNamed }] = await Promise.all([
    import('./try-fit.ts'),
    import('../keys/keyring.ts'),
  ]);
  const load = async () => keysNamed(await ask.keyring(), name, held.value);
  return await tryFit({ ...about, record: record.value, held: held.value, load, kept });
}

function shownFit({ id, key, tried }: KeptFit): BackupFit {
  return { id, key, tried: tried.length };
}

/** If an instance's keys are unknown, no key store is opened and no passphrase is asked for. */
async function askKeys(
  ask: Asking,
  name: string,
  record: InstanceFacts['record'],
): Promise<InstanceFacts['held']> {
  if (record.state !== 'known' || record.value.ledger.epochs.length === 0) return { state: 'unasked' };
  try {
    const { at, of } = await ask.heldKeys();
    return { state: 'known', at, value: of.get(name) ?? [] };
  } catch (thrown) {
    return failedPart(thrown, ask.limitMs);
  }
}

async function overviewOf(service: ServiceClient, signal: AbortSignal) {
  const { value } = await service.overview(signal);
  const { state, plan_id: plan, service_id: of } = value;
  return { state, plan, service: of };
}

async function backupsOf(service: ServiceClient, signal: AbortSignal) {
  const { value, skew, unread } = await service.backups(signal);
  return {
    done: doneBackups(value),
    skewMs: skew?.skewMs,
    unread: unreadWords('backup', unread),
    ...(service.isSimulated() ? { isSimulated: true as const } : {}),
  };
}

async function restoresOf(service: ServiceClient, signal: AbortSignal): Promise<number> {
  return (await service.restores(signal)).value.length;
}

/** The done backups of a list, the last triggered first. */
export function doneBackups(listed: readonly Backup[]): readonly ListedBackup[] {
  return listed
    .filter(({ status }) => status === 'done')
    .map(
      ({ id, backup_id, size, triggered_at, started_at, finished_at, downloadable }): ListedBackup => ({
        id,
        backupId: backup_id,
        // The earliest time: a later one would make the data look newer than it is.
        triggeredAt: triggered_at ?? started_at ?? finished_at,
        size,
        downloadable,
      }),
    )
    .toSorted((one, other) => timeOf(other) - timeOf(one) || other.id - one.id);
}

function timeOf({ triggeredAt }: ListedBackup): number {
  return instantOf(triggeredAt) ?? 0;
}

async function windowOf(service: ServiceClient, signal: AbortSignal) {
  try {
    const { start_time: start, end_time: end } = (await service.pitrRange(signal)).value;
    if (start !== undefined && end !== undefined) return { start, end };
    throw new LifeboatError('pitr.bad-range', 'the service does not say which times it can restore to');
  } catch (thrown) {
    // service-api.md section 4.1 rule 4: no continuous archiving.
    if (thrown instanceof LifeboatError && thrown.code === 'service.not-found') return 'none';
    throw thrown;
  }
}

/** Points of the newest samples of a cluster: its disks are among them, and a fleet is asked often. */
const DISK_POINTS = 500;

async function diskOf(service: ServiceClient, signal: AbortSignal): Promise<DiskFill | 'none'> {
  const { PARACHUTE, parachuteDisks } = await import('../service/metrics.ts');
  const asked = { quantity: DISK_POINTS, containing: PARACHUTE, signal };
  const disks = parachuteDisks((await service.metrics(asked)).value);
  const [nearest] = disks
    .map(({ service: type, index, disk, usedPercent, usedThreshold, activated }): DiskFill => {
      const name = [type, index, disk].filter((part) => part !== undefined).join('.');
      return { name, usedPercent, threshold: usedThreshold, isOpen: activated === true };
    })
    .toSorted((one, other) => Number(other.isOpen) - Number(one.isOpen) || roomIn(one) - roomIn(other));
  return nearest ?? 'none';
}

/** Percent left until the parachute opens. */
function roomIn({ usedPercent, threshold }: DiskFill): number {
  return usedPercent === undefined || threshold === undefined ? Infinity : threshold - usedPercent;
}

async function partOf<Value>(act: () => Promise<Value>, limitMs: number): Promise<Part<Value>> {
  try {
    const value = await act();
    return { state: 'known', at: new Date(), value };
  } catch (thrown) {
    return failedPart(thrown, limitMs);
  }
}

function failedPart(thrown: unknown, limitMs: number): Part<never> {
  const at = new Date();
  if (thrown instanceof TooSlow)
    return { state: 'failed', at, code: 'answer.late', why: `no answer within ${limitMs / 1000} s` };
  const { code, shortMessage } = failureOf(thrown);
  return { state: 'failed', at, code, why: show(shortMessage) };
}

/** What the config says about an instance, for its status; `last` says when each was evaluated. */
export function aboutOf(
  config: LoadedConfig,
  name: string,
  last: LastEvaluated,
): Pick<InstanceFacts, 'name' | 'role' | 'objectives' | 'cryptoperiod' | 'policy'> {
  const { role = 'source', objectives = {}, cryptoperiod, apps } = config.instances[name] ?? {};
  const { escrow } = config.keys;
  const { every } = config.evaluate ?? {};
  const policy: EvaluationPolicy = {
    drillEvery: config.drills?.every,
    ...(escrow === undefined ? {} : { escrow }),
    apps: apps?.map((app) => app.name),
    waivers: config.waivers.filter(({ instance }) => instance === name),
    ...(every === undefined ? {} : { evaluate: { every, lastAt: last[name] } }),
  };
  return { name, role, objectives, cryptoperiod, policy };
}
