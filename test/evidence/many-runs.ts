import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openTranscript } from '../../src/audit/transcript/transcript.ts';
import { Secret } from '../../src/base/secret.ts';
import { chooseStore } from '../../src/keys/choose-store.ts';
import { openKeyring } from '../../src/keys/keyring.ts';
import type { Json, NewEntry } from '../../src/store/journal.ts';
import { homePlace } from '../../src/store/log/places/folder-place.ts';
import { createSigner } from '../../src/store/log/signer.ts';
import { prepareEntry } from '../../src/store/new-entry.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { openSqliteForReading, openSqliteStore } from '../../src/store/sqlite/open.ts';
import { prepareQueries } from '../../src/store/sqlite/queries.ts';
import { prepareWriter } from '../../src/store/sqlite/write.ts';

/** A home with many closed runs. */
export interface ManyRuns {
  readonly env: Readonly<Record<string, string>>;
}

interface HistoryEntry {
  readonly stream: string;
  readonly type: string;
  readonly body: Json;
}

const HISTORY = 'test/histories/restore-backup-2/restore-backup-r62.jsonl';
/** Runs whose entries are one append. */
const BATCH = 100;
/** The requests of such a run, by the transcripts of the lab. */
const REQUESTS = 18;

/**
 * Makes a home in which `runs` recorded restores went over `instances` in turns, each with a transcript and
 * its facts in the ledger. By the writer of the store, many runs an append: holds would take longer.
 */
export async function makeManyRuns(
  folder: string,
  { runs, instances }: { readonly runs: number; readonly instances: number },
): Promise<ManyRuns> {
  const home = join(folder, 'home');
  const [config, passphrase] = [join(folder, 'lifeboat.yaml'), join(folder, 'passphrase')];
  const names = Array.from({ length: instances }, (_, at) => `db-${at + 1}`);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(passphrase, 'a passphrase of many runs', { mode: 0o600 });
  const url = 'http://127.0.0.1:9/service-instances';
  const lines = names.map(
    (name) => `  ${name}: { url: ${url}/${name}, revision: 62, token: { env: NO_TOKEN } }\n`,
  );
  writeFileSync(config, `instances:\n${lines.join('')}`, { mode: 0o600 });
  const env = {
    NO_TOKEN: 'nobody asks for it',
    LIFEBOAT_CONFIG: config,
    LIFEBOAT_HOME: home,
    LIFEBOAT_KEYCHAIN: 'vault',
    LIFEBOAT_PASSPHRASE_FILE: passphrase,
  };
  const keyring = openKeyring(await chooseStore({ env, home }));
  const signer = createSigner(await keyring.signingKey());
  const fingerprint = await keyring.add('db-1', new Secret('a key of many runs, a key of many runs'));
  await (await openSqliteStore({ home, by: 'Robin', signer, projections: PROJECTIONS })).close();
  const db = openDatabase(home);
  db.exec('PRAGMA synchronous = OFF');
  const writer = prepareWriter(db, prepareQueries(db), { by: 'Robin', signer, projections: PROJECTIONS });
  const history = readFileSync(resolve(HISTORY), 'utf8').trimEnd().split('\n');
  for (let from = 0; from < runs; from += BATCH) {
    const count = Math.min(BATCH, runs - from);
    const entries = Array.from({ length: count }, (_, at) =>
      closedRun(home, history, from + at, { name: names[(from + at) % instances] ?? '', fingerprint }),
    );
    const at = new Date(Date.UTC(2026, 0, 1) + from * 60_000).toISOString();
    writer.append(entries.flat().map(prepareEntry), new Map(), {
      ...{ at, vouched: 0 },
      assertHoldsLast: () => undefined,
    });
  }
  db.close();
  const reader = await openSqliteForReading({ home, projections: [] });
  const { note = '' } = await reader.log.head();
  await reader.close();
  await homePlace(home).write(note, signer);
  return { env };
}

function closedRun(
  home: string,
  history: readonly string[],
  number: number,
  { name, fingerprint }: { readonly name: string; readonly fingerprint: string },
): readonly NewEntry[] {
  const runId = `01K${String(number).padStart(23, '0')}`;
  const transcript = openTranscript(home, runId);
  for (let no = 1; no <= REQUESTS; no += 1)
    transcript.write({
      ...{
        kind: 'service',
        to: name,
        at: new Date(no * 1000),
        method: 'GET',
        url: `https://host/${name}/${no}`,
      },
      ...{ headers: { accept: 'application/json' }, body: undefined, secrets: [], hidden: [], status: 200 },
      ...{ error: undefined, answerHeaders: {}, bytes: 900, sha256: '0'.repeat(64), ms: 7 },
      answer: JSON.stringify({ backups: Array.from({ length: 8 }, (_, id) => ({ id, state: 'done' })) }),
    });
  const kept = transcript.keep() as unknown as Json;
  transcript.close();
  const own = history.map((line): NewEntry => {
    const { type, body } = JSON.parse(line.replaceAll('"orders"', JSON.stringify(name))) as HistoryEntry;
    return { stream: `run/${runId}`, type, body: type === 'transcript.kept' ? kept : body };
  });
  const ledger = (type: string, body: Json): NewEntry => ({ stream: `instance/${name}`, type, body });
  const follow = { id: `fresh-${number}`, kind: 'fresh-backup', subject: name, what: `back up ${name}` };
  const backup = { id: number, backup_id: `b-${number}` };
  return [
    ...own,
    ledger('key.proven', {
      ...{ fingerprint, run: runId, backup, verdict: 'readable' },
      ...{ cipherSha256: '0'.repeat(64), negative: 'refused' },
    }),
    ledger('follow-up.opened', { followUp: follow, run: runId }),
    ledger('follow-up.closed', { id: follow.id, closure: { how: 'hand', text: 'made by the schedule' } }),
  ];
}
