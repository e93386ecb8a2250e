import pLimit from 'p-limit';
import type { KeyProfile } from '../backup/backup-file.ts';
import { type Candidate, probeKeys } from '../backup/probe.ts';
import { failureOf } from '../base/errors.ts';
import { TooSlow, within } from '../base/patience.ts';
import { show } from '../base/text.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import { type HeldKey, heldKeys } from '../keys/keyring.ts';
import type { ServiceClient } from '../service/client.ts';
import type { ListedBackup } from '../view/fleet/status-schema.ts';
import { doneBackups } from './ask-fleet.ts';
import type { Listed } from './last-seen.ts';
import { openInstance } from './service-of.ts';
import { headOf, type KeptFit } from './try-fit.ts';

export type Fit = Pick<ListedBackup, 'id' | 'backupId' | 'triggeredAt'> &
  (
    | {
        readonly fit: 'fits';
        readonly fingerprint: string;
        readonly profile: KeyProfile | undefined;
        /** Under whose name the key is held, if it is another instance's. */
        readonly heldFor?: string | undefined;
      }
    /** No held key opens it. `tried` are fingerprints of the keys of its own instance. */
    | { readonly fit: 'none'; readonly tried: readonly string[] }
    | { readonly fit: 'not-encrypted' | 'not-downloadable' }
    | { readonly fit: 'unasked'; readonly why: string }
  );

/** The fits of one instance, newest backup first; or why its backups could not be listed. */
export interface InstanceFits {
  readonly instance: string;
  readonly fits: readonly Fit[];
  readonly failed?: { readonly code: string; readonly why: string } | undefined;
}

export interface FitBackups {
  readonly config: LoadedConfig;
  readonly names: readonly string[];
  readonly keyring: Keyring;
  /** Findings of earlier calls, by instance: with the same keys they are not asked for again. */
  readonly recall: (name: string) => Promise<readonly KeptFit[]>;
  readonly remember: (name: string, seen: Listed) => Promise<void>;
  /** Counts of backups with an answer, and of finished instances. */
  readonly progress: (backups: number, instances: number) => void;
  readonly signal: AbortSignal;
  /** Milliseconds for one answer. */
  readonly limitMs: number;
}

/** Downloads begun at once: from one service, and in all. */
const AT_ONE_HOST = 4;
const AT_ONCE = 16;
const INSTANCES_AT_ONCE = 8;
/** With more keys of other instances, the slow profile is only for the instance's own. */
const MAX_SLOW = 16;

/**
 * Finds each listed backup's key by its first 32 bytes; each download ends there. Tries the instance's own
 * keys first, then others: a key is found by opening, whatever its name. Sends only GETs, at most four at
 * once to a service and sixteen in all. Reports failures, which stop nothing else; rejects only for an abort.
 */
export async function fitBackups(ask: FitBackups): Promise<readonly InstanceFits[]> {
  const overall = pLimit(AT_ONCE);
  const instances = pLimit(INSTANCES_AT_ONCE);
  const hosts = new Map<string, ReturnType<typeof pLimit>>();
  let others: Promise<readonly OtherKey[]> | undefined;
  const done = { backups: 0, instances: 0 };
  const told = () => ask.progress(done.backups, done.instances);

  const fitOne = async (name: string): Promise<InstanceFits> => {
    try {
      await using opened = await within(ask.limitMs, () =>
        openInstance(ask.config, name, { store: async () => ask.keyring.store }),
      );
      const { service } = opened;
      const host = new URL(ask.config.instances[name]?.url ?? '').host;
      const atHost = hosts.get(host) ?? pLimit(AT_ONE_HOST);
      hosts.set(host, atHost);
      const { value } = await within(ask.limitMs, () => service.backups(ask.signal));
      const backups = doneBackups(value);
      const own = await heldKeys(ask.keyring, name);
      const kept = await ask.recall(name);
      const keys: Keys = {
        own,
        others: async () => {
          others ??= keysOf(ask);
          return (await others).filter(({ heldFor }) => heldFor !== name);
        },
      };
      const fits = await Promise.all(
        backups.map(async (backup) => {
          const fit =
            known(kept, backup, own) ??
            (await overall(() => atHost(() => fitOf(service, backup, keys, ask))));
          done.backups += 1;
          told();
          return fit;
        }),
      );
      await ask.remember(name, {
        done: backups,
        at: new Date(),
        fits: fits.flatMap((fit) => keptOf(fit, own)),
      });
      return { instance: name, fits };
    } catch (thrown) {
      ask.signal.throwIfAborted();
      return { instance: name, fits: [], failed: whyFailed(thrown, ask.limitMs) };
    } finally {
      done.instances += 1;
      told();
    }
  };
  return await Promise.all(ask.names.map((name) => instances(() => fitOne(name))));
}

interface OtherKey extends HeldKey {
  readonly heldFor: string;
}

interface Keys {
  readonly own: readonly HeldKey[];
  readonly others: () => Promise<readonly OtherKey[]>;
}

async function keysOf({ config, keyring }: FitBackups): Promise<readonly OtherKey[]> {
  const all = await Promise.all(
    Object.keys(config.instances).map(async (heldFor) =>
      (await heldKeys(keyring, heldFor)).map((held) => ({ ...held, heldFor })),
    ),
  );
  return all.flat();
}

/** A finding of an earlier call that still holds: the key is held, or the same keys were tried. */
function known(kept: readonly KeptFit[], backup: ListedBackup, own: readonly HeldKey[]): Fit | undefined {
  const held = own.map(({ fingerprint }) => fingerprint);
  const found = kept.find(
    ({ id, backupId, triggeredAt }) =>
      id === backup.id && backupId === backup.backupId && triggeredAt === backup.triggeredAt,
  );
  // A backup that nothing opened is asked for again: a key of another instance may be held by now.
  if (found?.key === undefined || !held.includes(found.key)) return undefined;
  return { ...nameOf(backup), fit: 'fits', fingerprint: found.key, profile: undefined };
}

function keptOf(fit: Fit, own: readonly HeldKey[]): KeptFit[] {
  const tried = own.map(({ fingerprint }) => fingerprint);
  const { id, backupId, triggeredAt } = fit;
  if (fit.fit === 'none') return [{ id, backupId, triggeredAt, tried }];
  if (fit.fit !== 'fits') return [];
  // The record of an instance names its own keys alone.
  return fit.heldFor === undefined ? [{ id, backupId, triggeredAt, key: fit.fingerprint, tried }] : [];
}

async function fitOf(
  service: Pick<ServiceClient, 'download'>,
  backup: ListedBackup,
  { own, others }: Keys,
  { signal, limitMs }: Pick<FitBackups, 'signal' | 'limitMs'>,
): Promise<Fit> {
  const name = nameOf(backup);
  if (backup.downloadable === false) return { ...name, fit: 'not-downloadable' };
  try {
    const head = await within(limitMs, () => headOf(service, backup.id, signal));
    const found = probeKeys(head, own);
    if (found.result === 'not-a-backup') return { ...name, fit: 'not-encrypted' };
    if (found.result === 'fits')
      return { ...name, fit: 'fits', fingerprint: found.fingerprint, profile: found.profile };
    const elsewhere = await others();
    const other = probeOthers(head, elsewhere);
    if (other !== undefined) return { ...name, fit: 'fits', ...other };
    return { ...name, fit: 'none', tried: own.map(({ fingerprint }) => fingerprint) };
  } catch (thrown) {
    signal.throwIfAborted();
    return { ...name, fit: 'unasked', why: whyFailed(thrown, limitMs).why };
  }
}

function probeOthers(head: Uint8Array, keys: readonly OtherKey[]) {
  const named: Candidate[] = keys.map(({ heldFor, fingerprint, key }) => ({
    fingerprint: `${heldFor}/${fingerprint}`,
    key,
  }));
  const found = probeKeys(head, named, keys.length <= MAX_SLOW ? undefined : FAST);
  if (found.result !== 'fits') return undefined;
  const [heldFor = '', fingerprint = ''] = found.fingerprint.split('/');
  return { heldFor, fingerprint, profile: found.profile };
}

const FAST: readonly KeyProfile[] = ['md5', 'sha256'];

function nameOf({ id, backupId, triggeredAt }: ListedBackup) {
  return { id, backupId, triggeredAt };
}

function whyFailed(thrown: unknown, limitMs: number): { readonly code: string; readonly why: string } {
  if (thrown instanceof TooSlow) return { code: 'answer.late', why: `no answer within ${limitMs / 1000} s` };
  const { code, shortMessage } = failureOf(thrown);
  return { code, why: show(shortMessage, 200) };
}
