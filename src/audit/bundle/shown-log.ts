import * as z from 'zod';
import { LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { assertDepth, canonicalBody, hashOf, isCanonical, leafText } from '../../store/canonical.ts';
import type { Entry, JournalReader, StoredEntry, StreamName } from '../../store/journal.ts';
import { type Checkpoint, checkpointText, parseCheckpoint, textOf } from '../../store/log/checkpoint.ts';
import { leafHash, openTree, type ShownTree, treeProof } from '../../store/log/merkle.ts';
import type { Signer } from '../../store/log/signer.ts';
import { isStreamName } from '../../store/new-entry.ts';
import { isEnd, mayFollowEnd } from '../../store/run-entries.ts';
import type { Findings } from '../verdict.ts';
import { hasEntries, type ReadableFiles } from './names.ts';

/** Some streams of a log, with the proof that they are in it. */
export interface ShownLog {
  readonly checkpoint: Checkpoint;
  /** The newest head of the log, signed by the last appender and by the maker of the bundle. */
  readonly note: string;
  /** The leaf texts of each file's stream, in order. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
  /** Proves that all of them are leaves, and that the tree extends each of the sizes. */
  readonly proof: Proof;
}

/** As written in `proof.json` and in the last line of exported lines. */
export interface Proof {
  /** The leaf number of each line, by file. */
  readonly leaves: Readonly<Record<string, readonly number[]>>;
  /** The sizes whose roots follow as well. */
  readonly sizes: readonly number[];
  readonly nodes: readonly string[];
}

/** A log up to its newest signed head, shown stream by stream. Only the places of entries are kept. */
export interface LogShow {
  readonly checkpoint: Checkpoint;
  /** That head, signed by the last appender and by who shows it. */
  readonly note: string;
  /**
   * The entries of a stream up to the head, and their leaf texts; none for a stream without any. What arrived
   * later is left out. Rejects with `journal.damaged` for an entry that does not match its hash.
   */
  show(
    file: string,
    stream: StreamName,
  ): Promise<{ readonly entries: readonly Entry[]; readonly lines: readonly string[] }>;
  /** Of all that was shown, and of these smaller sizes; sizes that the log does not have are skipped. */
  prove(sizes: readonly number[]): Promise<Proof>;
}

/** Opens the newest head of a log. Rejects with `run.unknown` for an empty log. */
export async function openShow(journal: JournalReader, signer: Pick<Signer, 'sign'>): Promise<LogShow> {
  const { note } = await journal.log.head();
  const head = parseCheckpoint(textOf(note ?? '') ?? '');
  if (note === undefined || head === undefined)
    throw new LifeboatError('run.unknown', 'nothing is on record here, or its signed head cannot be read');
  const leaves: Record<string, readonly number[]> = {};
  // This version does not sign a checkpoint with lines that it cannot write.
  const isOurs = checkpointText(head) === textOf(note);
  return {
    checkpoint: head,
    note: isOurs ? cosigned(note, signer.sign(head)) : note,
    async show(file, stream) {
      const entries = (await journal.read(stream)).filter(({ index }) => index < head.size);
      const lines = entries.map(lineOf);
      if (entries.length > 0) leaves[file] = entries.map(({ index }) => index);
      return { entries, lines };
    },
    async prove(more) {
      const sizes = [...new Set(more)].filter((size) => size > 0 && size < head.size).sort((a, b) => a - b);
      const shown = { size: head.size, leaves: Object.values(leaves).flat(), sizes };
      return { leaves, sizes, nodes: await treeProof(journal.log, shown) };
    },
  };
}

/** Shows these streams at the newest head, and also these sizes. Rejects as `openShow` and `show` do. */
export async function showLog(
  journal: JournalReader,
  streams: ReadonlyMap<string, StreamName>,
  signer: Pick<Signer, 'sign'>,
  more: readonly number[],
): Promise<ShownLog> {
  const { checkpoint, note, show: shown, prove } = await openShow(journal, signer);
  const lines = new Map<string, readonly string[]>();
  for (const [file, stream] of streams) {
    const found = await shown(file, stream);
    if (found.lines.length > 0) lines.set(file, found.lines);
  }
  return { checkpoint, note, lines, proof: await prove(more) };
}

export function proofText(proof: Proof): string {
  const { leaves, sizes, nodes } = proof;
  return JSON.stringify({ leaves, sizes, nodes });
}

function lineOf(entry: Entry): string {
  const { stream, seq, hash } = entry;
  const fields = { ...entry, body: canonicalBody(entry.body, `entry ${seq} of ${stream}`) };
  if (hashOf(fields) !== hash)
    throw new LifeboatError('journal.damaged', `entry ${seq} of ${stream} does not match its hash`);
  return leafText(fields);
}

/** The text with both signatures. */
function cosigned(note: string, own: string): string {
  const line = own.slice(own.lastIndexOf('\n\n') + 2);
  return note.endsWith(`\n${line}`) ? note : `${note}${line}`;
}

export interface ShownStream {
  readonly stream: string;
  readonly entries: readonly StoredEntry[];
}

const Hex = z.string().regex(/^[0-9a-f]{64}$/u);
const Index = z.int().nonnegative();
const ProofShape = z.strictObject({
  leaves: z.record(z.string(), z.array(Index)),
  sizes: z.array(Index),
  nodes: z.array(Hex),
});
const Leaf = z.strictObject({
  at: z.string(),
  body: z.unknown(),
  by: z.string(),
  seq: z.int(),
  stream: z.string(),
  type: z.string(),
});

/**
 * Reads the streams of a log of `size` entries, one file at a time, and checks that each line is the text of
 * a leaf, no stream has a gap, and the proof fits them. `seen` gets each stream; none is kept. The root of
 * the tree tells which one it is; undefined if the proof does not fit. Never throws, whatever the content.
 */
export function readLog(
  files: ReadableFiles,
  proof: z.infer<typeof ProofShape> | undefined,
  size: number,
  findings: Findings,
  seen: (file: string, stream: ShownStream) => void,
): ShownTree | undefined {
  const leaves = new Map<number, Buffer>();
  const streams = new Set<string>();
  for (const file of files.keys()) {
    if (!hasEntries(file)) continue;
    const lines = linesOf(files.get(file) ?? Buffer.alloc(0));
    const name = show(file, 120);
    const places = Object.hasOwn(proof?.leaves ?? {}, file) ? (proof?.leaves[file] ?? []) : [];
    const entries = lines.map((line, at) => readLine(line, places[at] ?? -1));
    const stream = entries[0]?.stream ?? '';
    for (const [at, entry] of entries.entries()) {
      const index = places[at] ?? -1;
      if (entry === undefined || entry.stream !== stream || !isStreamName(stream))
        findings.problem('entry.line', `line ${at + 1} of ${name} is not an entry of its stream`);
      else if (entry.seq !== at + 1)
        findings.problem('entry.gap', `entry ${entry.seq} is where entry ${at + 1} has to be`, {
          stream,
        });
      if (leaves.has(index) || index <= (places[at - 1] ?? -1))
        findings.problem('entry.place', `line ${at + 1} of ${name} has no place in the log of its own`);
      leaves.set(index, leafHash(lines[at]?.slice(0, LONGEST_LINE) ?? ''));
    }
    const read = entries.filter((entry) => entry !== undefined);
    if (places.length !== lines.length)
      findings.problem('entry.place', `the proof is not about the lines of ${name}`);
    if (streams.has(stream)) findings.problem('stream.twice', `${show(stream, 120)} is here twice`);
    streams.add(stream);
    checkEnd(stream, read, findings);
    seen(file, { stream, entries: read });
  }
  for (const file of Object.keys(proof?.leaves ?? {}))
    if (!hasEntries(file) || !files.has(file))
      findings.problem('entry.place', `${show(file, 120)} is missing`);
  const nodes = proof?.nodes.map((node) => Buffer.from(node, 'hex')) ?? [];
  return openTree(size, leaves, proof?.sizes ?? [], nodes);
}

/** Bytes: room for the places of a million entries, or for a hundred thousand hashes. */
export const LARGEST_PROOF = 8 * 1024 * 1024;

/** Parses a proof, which has only one spelling; undefined for anything else. */
export function readProof(bytes: Buffer | undefined): z.infer<typeof ProofShape> | undefined {
  if (bytes === undefined || bytes.length > LARGEST_PROOF) return undefined;
  try {
    const text = bytes.toString('utf8');
    const proof = ProofShape.parse(JSON.parse(text));
    return proofText(proof) === text ? proof : undefined;
  } catch {
    return undefined;
  }
}

/** Characters. The largest body is a MiB. */
const LONGEST_LINE = 2 * 1024 * 1024;
/** Every entry is longer. */
const SHORTEST_LINE = 64;

/** The lines of a file of entries, printable ASCII. An excessively large file has no lines. */
export function linesOf(bytes: Buffer): string[] {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at !== -1; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  if ((lines - 1) * SHORTEST_LINE > bytes.length) return [''];
  const all = bytes.toString('latin1').split('\n');
  // After the last line feed there is only a truncated line.
  return all.at(-1) === '' ? all.slice(0, -1) : all;
}

function readLine(line: string, index: number): StoredEntry | undefined {
  if (line.length > LONGEST_LINE) return undefined;
  try {
    const { body: value, ...rest } = Leaf.parse(JSON.parse(line));
    // The body exactly as written: between the fields around it.
    const [from, to] = [line.indexOf(',"body":') + 8, line.length - leafText({ ...rest, body: '' }).length];
    const body = line.slice(from, from + to);
    const fields = { ...rest, body };
    assertDepth(body, 'the body');
    const isExact = value !== undefined && leafText(fields) === line && isCanonical(body);
    return isExact ? { ...fields, index, hash: leafHash(line).toString('hex') } : undefined;
  } catch {
    return undefined;
  }
}

/** Nothing may follow the end of a run that would change its outcome. Ledgers never end. */
function checkEnd(stream: string, entries: readonly StoredEntry[], findings: Findings): void {
  if (!stream.startsWith('run/')) return;
  const end = entries.find(isEnd)?.seq ?? Number.POSITIVE_INFINITY;
  for (const { seq, type } of entries)
    if (seq > end && !mayFollowEnd({ type })) {
      const message = `entry ${seq} (${type}) comes after the end of the run, entry ${end}`;
      findings.problem('run.after-end', message, { stream, seq });
    }
}
