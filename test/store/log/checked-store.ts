import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import type { Hold, Journal, NewEntry, StreamName } from '../../../src/store/journal.ts';
import { type Checked, checkLog } from '../../../src/store/log/check-log.ts';
import { folderPlace, homePlace } from '../../../src/store/log/places/folder-place.ts';
import type { Place } from '../../../src/store/log/places/place.ts';
import { createSealer, type Sealer } from '../../../src/store/log/sealer.ts';
import type { Signer } from '../../../src/store/log/signer.ts';
import { PROJECTIONS } from '../../../src/store/projected.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { freshSigner } from '../fresh-signer.ts';
import { tampered } from '../sqlite-store.ts';
import { temporaryHome } from '../temporary-home.ts';

/** A one-machine store with its places, as a writing command has it. */
export interface CheckedStore {
  readonly home: string;
  readonly signer: Signer;
  readonly places: readonly [Place, ...Place[]];
  readonly journal: Journal;
  readonly sealer: Sealer;
  readonly problems: readonly string[];
  /** Arms a call with this name in the ledger of `orders`. */
  arm(intent: string): Promise<void>;
  end(intent: string): Promise<void>;
  check(): Promise<Checked>;
  close(): Promise<void>;
}

export async function openCheckedStore(
  options: { readonly home?: string; readonly signer?: Signer; readonly folders?: readonly string[] } = {},
): Promise<CheckedStore> {
  const { home = temporaryHome(), signer = freshSigner(), folders = [] } = options;
  const places: [Place, ...Place[]] = [homePlace(home), ...folders.map(folderPlace)];
  const journal = await openSqliteStore({ home, by: 'tester', signer, projections: PROJECTIONS });
  onTestFinished(() => journal.close());
  const problems: string[] = [];
  const sealer = createSealer(journal, {
    signer,
    places,
    onProblem: ({ shortMessage }) => void problems.push(shortMessage),
  });
  const stream: StreamName = 'instance/orders';
  let hold: Hold | undefined;
  const append = async (entries: readonly NewEntry[]) => {
    hold ??= await journal.hold(stream);
    await journal.append(entries, [hold]);
  };
  const of = (type: string, body: NewEntry['body']): NewEntry => ({ stream, type, body });
  return {
    home,
    signer,
    places,
    journal,
    sealer,
    problems,
    arm: (intent) =>
      append([
        of('call.begun', { call: intent, verb: 'restoreBackup', input: { backup: 3 } }),
        of('intent.prepared', {
          intent,
          verb: 'restoreBackup',
          baseline: { tasks: [], underWay: [], skew: null },
        }),
        of('intent.armed', { intent, verb: 'restoreBackup' }),
      ]),
    end: (intent) =>
      append([
        of('intent.outcome', {
          intent,
          verb: 'restoreBackup',
          sent: 'landed',
          output: { landed: true, id: 7 },
        }),
        of('call.ended', {
          call: intent,
          verb: 'restoreBackup',
          how: 'done',
          output: { landed: true, id: 7 },
        }),
      ]),
    check: () => checkLog(journal, places, { ownKey: signer.publicKey }),
    close: () => journal.close(),
  };
}

/** Changes the database as with a database tool. */
export function tamper(home: string, ...statements: readonly string[]): void {
  tampered(home, (db) => {
    for (const sql of statements) db.exec(sql);
  });
}

/** Removes all entries from a leaf on, and the heads that cover them, as if they had never existed. */
export function cutFrom(home: string, leaf: number): void {
  tamper(home, `DELETE FROM entries WHERE leaf >= ${leaf}`, `DELETE FROM heads WHERE size > ${leaf}`);
}

export function removeCheckpoints(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
