import { type AuditOptions, type AuditReport, auditVerify } from '../../src/audit/audit.ts';
import { transcriptOf } from '../../src/audit/transcript/transcript.ts';
import type { Entry, Hold, Journal, NewEntry, StreamName } from '../../src/store/journal.ts';
import { folderPlace, homePlace } from '../../src/store/log/places/folder-place.ts';
import { createSealer, type Sealer } from '../../src/store/log/sealer.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteForReading, openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { temporaryHome } from '../store/temporary-home.ts';

export interface SealedJournal {
  readonly home: string;
  readonly folders: readonly string[];
  readonly signer: Signer;
  readonly journal: Journal;
  readonly sealer: Sealer;
  /** Appends under holds of the streams, taken at their first entry. */
  append(...entries: readonly NewEntry[]): Promise<readonly Entry[]>;
  close(): Promise<void>;
}

export interface SealedOptions {
  readonly home?: string;
  readonly signer?: Signer;
  readonly folders?: readonly string[];
  readonly now?: () => Date;
}

/** A journal open for writing, with a sealer for its home and further folders. */
export async function openSealed(options: SealedOptions = {}): Promise<SealedJournal> {
  const { home = temporaryHome(), signer = freshSigner(), folders = [], now = () => new Date() } = options;
  const journal = await openSqliteStore({ home, by: 'tester', signer, projections: PROJECTIONS, now });
  const sealer = createSealer(journal, { signer, places: [homePlace(home), ...folders.map(folderPlace)] });
  const holds = new Map<StreamName, Hold>();
  return {
    home,
    folders,
    signer,
    journal,
    sealer,
    async append(...entries) {
      for (const { stream } of entries)
        if (stream !== 'store/log' && !holds.has(stream)) holds.set(stream, await journal.hold(stream));
      return journal.append(entries, [...holds.values()]);
    },
    close: () => journal.close(),
  };
}

/**
 * A closed journal of `count` entries in each of two streams and the first entry of the log, sealed at its
 * end.
 */
export async function sealedHome(count: number, folders: readonly string[] = []): Promise<SealedJournal> {
  const sealed = await openSealed({ folders });
  for (let number = 1; number <= count; number += 1) await sealed.append(...pair(number));
  await sealed.sealer.sealNow();
  await sealed.close();
  return sealed;
}

const pair = (number: number): NewEntry[] => [
  { stream: 'run/a', type: 'note', body: { number, text: 'é and ü'.repeat(number % 7) } },
  { stream: 'instance/orders', type: 'key.set', body: { fingerprint: '0a1b2c3d4e5f', run: 'a', number } },
];

/** Audits a home as the command does; without `publicKey` and `storedKey` as on a machine without the key. */
export async function auditHome(
  { home, folders = [] }: Pick<SealedJournal, 'home'> & Partial<SealedJournal>,
  options: Partial<AuditOptions> = {},
): Promise<AuditReport> {
  const reader = await openSqliteForReading({ home, projections: PROJECTIONS });
  try {
    return await auditVerify({
      log: reader.log,
      places: [homePlace(home), ...folders.map(folderPlace)],
      transcriptOf: (run) => transcriptOf(home, run),
      ...options,
    });
  } finally {
    await reader.close();
  }
}

/** The findings of an audit: severity, code, stream and number of each. */
export function codesOf({ findings }: Pick<AuditReport, 'findings'>): readonly string[] {
  return findings.map(({ severity, code, stream, seq }) =>
    [severity, code, stream, seq].filter((part) => part !== undefined).join(' '),
  );
}
