import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeBundle } from '../../../src/audit/bundle/make-bundle.ts';
import { type BundleFiles, packFiles, unpackFiles } from '../../../src/audit/bundle/tar.ts';
import { openTranscript } from '../../../src/evidence/transcript/transcript.ts';
import type { NewEntry } from '../../../src/store/journal.ts';
import type { Signer } from '../../../src/store/log/signer.ts';
import { openForReading } from '../../../src/store/open-for-reading.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import { createSecretGuard } from '../../../src/store/secret-guard.ts';
import { openSealed } from '../sealed-journal.ts';
import { freshSigner } from '../signing.ts';

export const RUN = '01K0000000000000000000000A';
/** How many entries each run has. */
export const ENTRIES = 9;
export const OTHER = '01K0000000000000000000000B';

/** A home with two runs on one instance, closed and sealed, and the transcript of the first. */
export interface Evidence {
  readonly home: string;
  readonly signer: Signer;
}

/** Makes the evidence in a folder. Midway through the first run, everything durable, `midway` is called. */
export async function makeEvidence(home: string, midway?: () => void): Promise<Evidence> {
  const signer = freshSigner();
  const words = 'as it was';
  const { journal, sealer, close } = await openSealed({ home, signer });
  for (const run of [RUN, OTHER]) {
    const stream = `run/${run}` as const;
    const transcript = openTranscript(home, run);
    for (let no = 1; no <= 3; no += 1)
      transcript.write({
        kind: 'tool',
        at: new Date(no * 1000),
        argv: ['cf', 'curl', words],
        exit: 0,
        bytes: 9,
        ms: 7,
      });
    const steps: NewEntry[] = [
      runEntry(run, 'run.started', {
        runbook: 'rotate-key',
        version: '1',
        instance: 'orders',
        input: {},
        mode: 'LIVE',
        tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
        operator: 'Robin',
      }),
      ...[1, 2, 3].map(
        (number): NewEntry => ({ stream, type: 'note', body: { number, words, 'ä\u2028': [1.5, null] } }),
      ),
      { stream: 'instance/orders', type: 'key.set', body: { fingerprint: '0a1b2c3d4e5f', run } },
      ...[4, 5].map((number): NewEntry => ({ stream, type: 'note', body: { number } })),
      runEntry(run, 'approval.asked', {
        challenge: '00112233445566ff',
        text: 'rotate the key of orders\n',
        target: 'orders',
        order: 'rotate',
        plan: '0'.repeat(64),
        requester: 'Robin',
        expiresAt: '2026-01-01T00:00:00.000Z',
      }),
      runEntry(run, 'transcript.kept', transcript.keep()),
      runEntry(run, 'run.detached', { why: words }),
    ];
    for (const [at, step] of steps.entries()) {
      await journal.append([step]);
      if (at !== 5) continue;
      await sealer.sealNow(stream, 'armed');
      sealer.flush();
      if (run === RUN) midway?.();
    }
    transcript.close();
    await sealer.sealNow(stream, 'handed-over');
    await sealer.sealNow('instance/orders', 'handed-over');
  }
  await close();
  return { home, signer };
}

/** The bundle of the first run. */
export async function bundleOf({ home, signer }: Evidence, runId: string = RUN): Promise<Buffer> {
  const journal = await openForReading({ home });
  try {
    return await makeBundle({
      journal,
      home,
      runId,
      instances: ['orders'],
      signer,
      papers: new Map([
        ['report.md', Buffer.from('# All went well\n')],
        ['machine.json', Buffer.from('{}\n')],
      ]),
      madeAt: new Date(0),
      madeBy: 'lifeboat 0.1.0',
      guard: createSecretGuard(),
    });
  } finally {
    await journal.close();
  }
}

/** A bundle whose files somebody has changed with all tools there are, but for the signing key. */
export async function tampered(
  tar: Buffer,
  change: (files: Map<string, Buffer>) => void | Promise<void>,
): Promise<Buffer> {
  const files = new Map((await unpackFiles(tar)).files);
  await change(files);
  return packFiles(files);
}

/** Writes the files of a bundle into a folder. */
export function layOut(files: BundleFiles, folder: string): string {
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}
