import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BEGINNING_BYTES, PROBE_BYTES } from '../backup/beginning.ts';
import { probe } from '../backup/probe.ts';
import { isoOf } from '../base/date.ts';
import { LifeboatError } from '../base/errors.ts';
import { counted, formatTime } from '../base/format.ts';
import { instantOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { Keyring } from '../keys/key-store.ts';
import { openRunsOn } from '../runner/runs.ts';
import type { JournalReader } from '../store/journal.ts';
import { candidates } from '../store/projections/key-epochs.ts';
import { type Ledger, readLedger } from '../store/projections/ledgers.ts';
import { copiesIn } from './escrow.ts';
import type { Fit, InstanceFits } from './fit-backups.ts';
import { keysOfInstance } from './key-custody.ts';

export interface Against {
  readonly code:
    | 'in-force'
    | 'not-held'
    | 'unasked'
    | 'backup'
    | 'not-downloadable'
    | 'card'
    | 'sealed-copy'
    | 'local-file'
    | 'open-run';
  readonly text: string;
}

export interface MayDestroy {
  readonly against: readonly Against[];
  /** When the last backup that needs the key ends by the service's retention; undefined if unknown. */
  readonly from: string | undefined;
}

interface Ask {
  readonly config: LoadedConfig;
  readonly journal: JournalReader;
  readonly keyring: Keyring;
  /** Where downloads lie: `$LIFEBOAT_HOME/backups/<instance>`. */
  readonly home: string;
  readonly instance: string;
  readonly fingerprint: string;
  /** What each listed backup opens with, asked for now. */
  readonly fits: InstanceFits;
  /** How many days the service keeps a backup; undefined if it does not say. */
  readonly retentionDays: number | undefined;
}

/**
 * A key may go if all could be asked and none needs it: listed backups, backups not offered, recovery card,
 * sealed copies in folders, downloaded files, open runs. Unknown counts as against it.
 */
export async function mayDestroy(ask: Ask): Promise<MayDestroy> {
  const { config, journal, keyring, instance, fingerprint, fits } = ask;
  const ledger = await readLedger(journal, instance);
  const against: Against[] = [];
  const add = (code: Against['code'], text: string) => void against.push({ code, text });
  if (candidates(ledger.epochs).some((one) => one.fingerprint === fingerprint && one.state !== 'added'))
    add('in-force', `it is in force on ${instance}, or may be`);
  const key = await keyring.load(instance, fingerprint);
  if (key === undefined) add('not-held', 'it is not held here: which backups it opens cannot be asked');
  if (fits.failed !== undefined)
    add('unasked', `${instance} could not be asked for its backups: ${fits.failed.why}`);
  const needed = backupsOf(ledger, fits.fits, fingerprint);
  for (const { code, ids, text } of needed.groups) if (ids.length > 0) add(code, text(ids));
  if (ledger.card?.fingerprint === fingerprint)
    add('card', `the recovery card of ${formatTime(ledger.card.preparedAt)} UTC names it`);
  const folders = config.keys.escrow?.places.filter(({ folder }) => folder !== undefined) ?? [];
  const { copies, unread } = await copiesIn(folders, undefined, [instance]);
  for (const { path, copy } of copies)
    if (copy.fingerprint === fingerprint)
      add(
        'sealed-copy',
        `a sealed copy of it is in ${show(path ?? '', 300)}: others could open it; remove the file`,
      );
  for (const { place, why } of unread)
    add('unasked', `${show(place, 200)} could not be read: ${show(why, 200)}`);
  if (key !== undefined)
    for (const path of await filesOf(join(ask.home, 'backups', instance)))
      if (fitsFile(await headOfFile(path), key)) add('local-file', `${show(path, 300)} opens with it`);
  for (const { runId } of await openRunsOn(journal, [instance]))
    add('open-run', `run ${runId} on ${instance} is open`);
  return { against, from: fromDay(needed.dependents, ask.retentionDays) };
}

interface Group {
  readonly code: Against['code'];
  readonly ids: readonly number[];
  readonly text: (ids: readonly number[]) => string;
}

function backupsOf(ledger: Ledger, fits: readonly Fit[], fingerprint: string) {
  const its = (code: Fit['fit']) => fits.filter(({ fit }) => fit === code);
  const opened = fits.filter((fit) => fit.fit === 'fits' && fit.fingerprint === fingerprint);
  // A backup that another key was proven to open needs this one no more, though it cannot be asked now.
  const listed = its('not-downloadable').map((fit) => ({ ...fit, downloadable: false, size: undefined }));
  const owned = keysOfInstance({ ledger, held: [], listed, fits: [] });
  const others = new Set(
    owned.flatMap((one) =>
      one.fingerprint === undefined || one.fingerprint === fingerprint
        ? []
        : one.backups.filter(({ by }) => by === 'verify').map(({ id }) => id),
    ),
  );
  const hidden = listed.filter(({ id }) => !others.has(id));
  const unasked = its('unasked');
  const named = (ids: readonly number[]) => `${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''}`;
  const idsOf = (of: readonly { readonly id: number }[]) => of.map(({ id }) => id);
  const groups: readonly Group[] = [
    {
      code: 'backup',
      ids: idsOf(opened),
      text: (ids) => `${counted(ids.length, 'listed backup')} opens with it: ${named(ids)}`,
    },
    {
      code: 'not-downloadable',
      ids: idsOf(hidden),
      text: (ids) =>
        `which key opens them cannot be asked, since the service does not offer them: ${named(ids)}`,
    },
    {
      code: 'unasked',
      ids: idsOf(unasked),
      text: (ids) => `these backups could not be asked: ${named(ids)}`,
    },
  ];
  return { groups, dependents: [...opened, ...hidden, ...unasked] };
}

/** The service deletes a backup after its retention, but keeps a least number of the newest. */
function fromDay(
  dependents: readonly { readonly triggeredAt?: string | undefined }[],
  retentionDays: number | undefined,
): string | undefined {
  if (dependents.length === 0 || retentionDays === undefined) return undefined;
  const times = dependents.map(({ triggeredAt }) => instantOf(triggeredAt) ?? Number.NaN);
  const last = Math.max(...times);
  return Number.isNaN(last) ? undefined : isoOf(last + retentionDays * 86_400_000);
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
}

async function headOfFile(path: string): Promise<Buffer> {
  const { open } = await import('node:fs/promises');
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function fitsFile(head: Buffer, key: Parameters<typeof probe>[1]): boolean {
  try {
    return probe(head.subarray(0, PROBE_BYTES), key).result === 'fits';
  } catch (thrown) {
    // A file that is too short holds no backup.
    if (thrown instanceof LifeboatError) return false;
    throw thrown;
  }
}
