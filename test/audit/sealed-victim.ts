import { hash } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transcriptPath } from '../../src/audit/transcript/transcript.ts';
import { type Anchor, anchorOfHead, parseAnchor } from '../../src/store/log/anchor.ts';
import type { Signer } from '../../src/store/log/signer.ts';
import { runEntry } from '../../src/store/run-entries.ts';
import { freshSigner } from '../store/fresh-signer.ts';
import { mark, prepared, started } from './armed.ts';
import { openSealed, type SealedJournal } from './sealed-journal.ts';

/** A home and a further folder for checkpoints, both filled, that can be tampered with repeatedly. */
export interface Victim {
  readonly home: string;
  readonly folder: string;
  /** The machine's key, which a thief may have. */
  readonly signer: Signer;
  /** A thief's own key. */
  readonly thief: Signer;
  /** Of the whole log. */
  readonly anchor: Anchor;
  /** An earlier state of the home. */
  readonly yesterday: string;
  /** Puts everything back. */
  restore(): void;
  remove(): void;
}

/**
 * Two runs that restored a backup, each sealed before its call was sent and at its end, with a transcript,
 * and their ledger entries; only the first existed yesterday.
 */
export async function sealedVictim(): Promise<Victim> {
  const root = mkdtempSync(join(tmpdir(), 'lifeboat-victim-'));
  const [home, folder] = [join(root, 'home'), join(root, 'copies')];
  const signer = freshSigner();
  const journal = await openSealed({ home, signer, folders: [folder] });
  await restored(journal, 'a');
  const yesterday = join(root, 'yesterday');
  cpSync(home, yesterday, { recursive: true });
  await restored(journal, 'b');
  const anchor = parseAnchor((await anchorOfHead(journal.journal.log)) ?? '');
  await journal.close();
  const whole = join(root, 'whole');
  for (const name of ['home', 'copies']) cpSync(join(root, name), join(whole, name), { recursive: true });
  return {
    ...{ home, folder, signer, thief: freshSigner(), anchor, yesterday },
    restore() {
      for (const [name, path] of [
        ['home', home],
        ['copies', folder],
      ] as const) {
        rmSync(path, { recursive: true, force: true });
        cpSync(join(whole, name), path, { recursive: true });
      }
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function restored({ home, append, sealer }: SealedJournal, run: string): Promise<void> {
  await append(started(run));
  for (let step = 1; step <= 5; step += 1)
    await append(runEntry(run, 'event', { event: { type: `step ${step} é` }, to: `step${step}` }));
  await append(...prepared(run));
  await append(runEntry(run, 'intent.armed', mark));
  await sealer.sealNow();
  await append(runEntry(run, 'intent.outcome', { ...mark, sent: 'landed', output: null }));
  for (let number = 1; number <= 3; number += 1)
    await append({
      stream: 'instance/orders',
      type: 'backup.made',
      body: { run, number, text: 'ü'.repeat(number) },
    });
  const path = transcriptPath(home, run);
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${'{"no":1,"at":"now"}\n'.repeat(20)}`);
  const bytes = readFileSync(path);
  await append(
    runEntry(run, 'transcript.kept', {
      lines: 20,
      bytes: bytes.length,
      sha256: hash('sha256', bytes, 'hex'),
    }),
    runEntry(run, 'run.closed', {
      outcome: 'done',
      proven: true,
      title: 'done',
      summary: [],
      deviations: [],
    }),
  );
  await sealer.sealNow();
}
