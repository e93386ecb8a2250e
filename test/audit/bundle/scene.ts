import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeBundle, makeLines } from '../../../src/audit/bundle/make-bundle.ts';
import { type BundleFiles, packFiles, unpackFiles } from '../../../src/audit/bundle/pack.ts';
import { openTranscript, transcriptOf } from '../../../src/audit/transcript/transcript.ts';
import type { JournalReader, NewEntry } from '../../../src/store/journal.ts';
import type { Anchor } from '../../../src/store/log/anchor.ts';
import { type ArmedCall, MAX_ARMED } from '../../../src/store/log/checkpoint.ts';
import type { Signer } from '../../../src/store/log/signer.ts';
import { runEntry } from '../../../src/store/run-entries.ts';
import { createSecretGuard } from '../../../src/store/secret-guard.ts';
import { openSqliteForReading, openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { freshSigner } from '../../store/fresh-signer.ts';

export const RUN = '01K0000000000000000000000A';
export const OTHER = '01K0000000000000000000000B';
/** The number of entries of each run. */
export const ENTRIES = 9;

/** A home with two runs on one instance, and what was signed while they ran. */
export interface Evidence {
  readonly home: string;
  readonly signer: Signer;
  /** The heads in the middle and at the end of each run, as places keep them. */
  readonly notes: readonly string[];
  /** Of the end of the first run, as copied into a ticket. */
  readonly anchor: Anchor;
}

/** Makes the evidence in a folder. */
export async function makeEvidence(home: string, signer: Signer = freshSigner()): Promise<Evidence> {
  const words = 'as it was';
  const notes: string[] = [];
  let anchor: Anchor | undefined;
  for (const run of [RUN, OTHER]) {
    const transcript = openTranscript(home, run);
    for (let no = 1; no <= 3; no += 1)
      transcript.write({
        ...{ kind: 'service', to: 'orders', at: new Date(no * 1000), method: 'POST', url: 'https://host/' },
        ...{
          headers: {},
          body: JSON.stringify({ words }),
          secrets: [],
          hidden: [],
          status: 200,
          error: undefined,
        },
        ...{ answerHeaders: {}, bytes: 9, sha256: '', answer: undefined, ms: 7 },
      });
    const note = (body: NewEntry['body']): NewEntry => ({ stream: `run/${run}`, type: 'note', body });
    const steps: NewEntry[] = [
      startOf(run),
      ...[1, 2, 3].map((number) => note({ number, words, 'ä\u2028\u007f"\\': [1.5, null, 1e21, -0, 1e-7] })),
      { stream: 'instance/orders', type: 'key.set', body: { fingerprint: '0a1b2c3d4e5f', run } },
      ...[4, 5].map((number) => note({ number })),
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
    transcript.close();
    const heads = await append(home, signer, steps.slice(0, 4), steps.slice(4));
    notes.push(...heads.notes);
    anchor ??= heads.anchor;
  }
  return { home, signer, notes, anchor: anchor as Anchor };
}

function startOf(run: string): NewEntry {
  return runEntry(run, 'run.started', {
    runbook: 'rotate-key',
    version: '1',
    instance: 'orders',
    input: {},
    mode: 'LIVE',
    tool: { name: 'lifeboat', version: '0.1.0', node: 'v24' },
    operator: 'Robin',
  });
}

/** More calls than a checkpoint names. */
const CROWD = Array.from({ length: MAX_ARMED + 5 }, (_, nr): ArmedCall => {
  const at = '2026-01-01T00:00:00.000Z';
  return { stream: `run/${RUN}`, instance: 'orders', verb: 'createBackup', intent: `backup-${nr}`, at };
});

/**
 * Appends groups of entries, and returns the head after each; the first names more calls than there is room
 * for.
 */
export async function append(home: string, signer: Signer, ...groups: readonly (readonly NewEntry[])[]) {
  const journal = await openSqliteStore({ home, by: 'tester', signer, projections: [] });
  const notes: string[] = [];
  try {
    const streams = new Set(groups.flat().map(({ stream }) => stream));
    streams.delete('store/log');
    const holds = await Promise.all([...streams].map((stream) => journal.hold(stream)));
    for (const entries of groups) {
      await journal.append(entries, holds);
      const { note = '', ...head } = await journal.log.head();
      const origin = (await journal.log.origin()) ?? '';
      notes.push(entries === groups[0] ? signer.sign({ ...head, origin, armed: CROWD }) : note);
    }
    const { size, root } = await journal.log.head();
    return { notes, anchor: { origin: (await journal.log.origin()) ?? '', size, root: root.slice(0, 20) } };
  } finally {
    await journal.close();
  }
}

interface What {
  readonly runId?: string;
  readonly anchors?: readonly Anchor[];
}

/** The bundle of the first run. */
export function bundleOf(
  evidence: Omit<Evidence, 'anchor'>,
  { runId = RUN, anchors = [] }: What = {},
): Promise<Buffer> {
  const { home, signer, notes } = evidence;
  return reading(home, (journal) =>
    makeBundle({
      ...source(journal, signer, runId),
      notes,
      anchors,
      instances: ['orders'],
      documents: new Map([
        ['report.md', Buffer.from('# All went well\n')],
        ['machine.json', Buffer.from('{}\n')],
      ]),
      transcript: () => transcriptOf(home, runId),
    }),
  );
}

/** Its journal alone, as lines. */
export function linesOf({ home, signer, notes }: Evidence, runId: string = RUN): Promise<string> {
  return reading(home, (journal) => makeLines({ ...source(journal, signer, runId), notes, anchors: [] }));
}

function source(journal: JournalReader, signer: Signer, runId: string) {
  return {
    journal,
    runId,
    signer,
    madeAt: new Date(0),
    madeBy: 'lifeboat 0.1.0',
    guard: createSecretGuard(),
  };
}

async function reading<T>(home: string, act: (journal: JournalReader) => Promise<T>): Promise<T> {
  const journal = await openSqliteForReading({ home, projections: [] });
  try {
    return await act(journal);
  } finally {
    await journal.close();
  }
}

/** A bundle whose files were changed with every tool except the signing key. */
export async function tampered(
  tar: Buffer,
  change: (files: Map<string, Buffer>) => void | Promise<void>,
): Promise<Buffer> {
  const files = new Map(unpackFiles(tar).files);
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
