import { hash } from 'node:crypto';
import * as z from 'zod';
import { counted, formatSeconds } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { show } from '../base/text.ts';
import { isCanonical, jsonIn, leafText } from '../store/canonical.ts';
import { LOG_STREAM, type Log, type LoggedEntry } from '../store/journal.ts';
import { clockMoved, type Loss } from '../store/log/log-entries.ts';
import { EMPTY_ROOT } from '../store/log/merkle.ts';
import { isStreamName } from '../store/new-entry.ts';
import { isEnd, mayFollowEnd } from '../store/run-entries.ts';
import { createFindings, type Finding, type Findings } from './verdict.ts';

export interface Walk {
  /** Takes the next entry of the log, whatever it contains. */
  take(entry: LoggedEntry): void;
  /** How many leaves the log has so far, including those of an accepted loss. */
  size(): number;
  /** How many of them an accepted loss took. */
  lost(): number;
  /** The number that the next leaf must have. */
  next(): number;
  streams(): number;
  /** The root over the taken entries, hex; undefined if it depends on a lost leaf. */
  root(): string | undefined;
  /**
   * The roots at the requested sizes, as far as the log reaches, with the time of the last entry below each;
   * after `finish`, also at its end. A root that depends on a lost leaf is undefined.
   */
  readonly roots: ReadonlyMap<number, { readonly root: string | undefined; readonly at: string }>;
  /** The stream `store/log`. */
  readonly aboutLog: readonly LoggedEntry[];
  demands(): Demands;
  /** The leaves of the requested stream, as ranges. */
  readonly leaves: readonly (readonly [first: number, last: number])[];
  /** Called after the last entry. */
  finish(): void;
}

export interface WalkOptions {
  /** The sizes whose root is needed. */
  readonly sizes: ReadonlySet<number>;
  /** Entries from this leaf demand no checkpoint: they came while the audit ran. */
  readonly demandedBelow: number;
  /** The leaves that a person accepted as lost, as ranges. */
  readonly gaps?: Loss['gaps'] | undefined;
  /** The stream whose leaves are reported. */
  readonly stream?: string | undefined;
  readonly onEntry: (entry: LoggedEntry) => void;
}

/** Checks each entry by itself and against those before it, and recomputes the tree of their hashes. */
export function createWalk(
  { sizes, demandedBelow, gaps = [], stream: asked, onEntry }: WalkOptions,
  findings: Findings,
): Walk {
  const tree = createTree();
  const streams = new Map<string, { seq: number; lost: number; end: number | undefined }>();
  const roots = new Map<number, { root: string | undefined; at: string }>();
  const aboutLog: LoggedEntry[] = [];
  const leaves: [number, number][] = [];
  const clock = clockWatch(findings);
  const demands = demandWatch(demandedBelow);
  let next = 0;
  let lost = 0;
  let lastAt = '';

  /** Only an accepted loss may leave a hole in the tree. */
  const skipTo = (index: number): boolean => {
    const isAccepted = gaps.some(([first, last]) => first === next && last === index - 1);
    if (!isAccepted || tree.size() !== next) return false;
    lost += index - next;
    tree.skip(index);
    for (const size of sizes)
      if (size > next && size <= index) roots.set(size, { root: undefined, at: lastAt });
    return true;
  };

  const inStream = ({ stream, seq, type }: LoggedEntry) => {
    const where = { stream, seq };
    let known = streams.get(stream);
    if (known === undefined) {
      if (!isStreamName(stream)) findings.problem('stream.name', `not a stream: ${show(stream, 120)}`, where);
      known = { seq: 0, lost: 0, end: undefined };
      streams.set(stream, known);
    }
    const missing = seq - known.seq - 1;
    if (missing < 0 || missing > lost - known.lost)
      findings.problem('entry.gap', `entry ${seq} follows entry ${known.seq} of its stream`, where);
    known.seq = seq;
    known.lost = lost;
    if (known.end !== undefined && !mayFollowEnd({ type })) {
      const message = `entry ${seq} (${type}) comes after the end of the run, entry ${known.end}`;
      findings.problem('run.after-end', message, where);
    }
    if (stream.startsWith('run/') && isEnd({ type })) known.end ??= seq;
  };

  return {
    take(entry) {
      const { index, stream, seq, type } = entry;
      const problem = (code: string, what: string) => findings.problem(code, what, { stream, seq });
      if (index !== next && !skipTo(index))
        problem('log.gap', `leaf ${index} is where leaf ${next} has to be`);
      // Entries without a place in the log come last.
      next = Math.max(next, index + 1);
      if (hash('sha256', `\0${leafText(entry)}`, 'hex') !== entry.hash)
        problem('entry.changed', `entry ${seq} was changed: its content does not match its hash`);
      if (!isCanonical(entry.body)) problem('entry.body', `the body of entry ${seq} is not canonical JSON`);
      // Use the stored hashes: that of a changed entry stays signed, so only the change is a finding.
      if (tree.grow(entry.hash, entry.tree) !== entry.tree)
        problem('tree.changed', `what is stored of the tree at leaf ${index} is not what its entries give`);
      inStream(entry);
      clock.take(entry);
      demands.take(entry);
      if (stream === LOG_STREAM) aboutLog.push(entry);
      if (stream === asked) addLeaf(leaves, index);
      if (sizes.has(tree.size())) roots.set(tree.size(), { root: tree.root(), at: entry.at });
      lastAt = entry.at;
      if (isStreamName(stream) && type !== '') onEntry(entry);
    },
    size: tree.size,
    lost: () => lost,
    next: () => next,
    streams: () => streams.size,
    root: tree.root,
    roots,
    aboutLog,
    demands: demands.found,
    leaves,
    finish() {
      roots.set(tree.size(), { root: tree.root(), at: lastAt });
      clock.finish();
    },
  };
}

/** The growing tree of RFC 6962; hashes are hex, which is cheaper than buffers. */
function createTree() {
  const peaks: (string | undefined)[] = [];
  const node = Buffer.alloc(65);
  node[0] = 1;
  let size = 0;
  const join = (left: string, right: string): string => {
    node.write(left, 1, 'hex');
    node.write(right, 33, 'hex');
    return hash('sha256', node, 'hex');
  };
  return {
    /**
     * Adds a leaf; returns the nodes that it completes, from level 1 up. Nodes above a lost leaf are the
     * stored ones: the next signed root shows whether they are right.
     */
    grow(leaf: string, stored: string): string {
      let top: string | undefined = leaf;
      let completed = '';
      for (let at = size; at % 2 === 1; at = (at - 1) / 2) {
        const left = peaks.pop();
        if (left === undefined || top === undefined) top = nodeIn(stored, completed.length);
        else top = join(left, top);
        completed += top ?? '';
      }
      peaks.push(top);
      size += 1;
      return completed;
    },
    /** Continues at another size, with unknown leaves in between. */
    skip(to: number) {
      const from = size;
      const before = peaks.splice(0);
      for (let [start, width] = [0, 2 ** 52]; width >= 1; width /= 2) {
        if (Math.floor(to / width) % 2 === 0) continue;
        // Both have the same peaks up to the first that reaches beyond the known part.
        peaks.push(start + width <= from ? before[peaks.length] : undefined);
        start += width;
      }
      size = to;
    },
    size: () => size,
    root: () => {
      if (size === 0) return EMPTY_ROOT.toString('hex');
      return peaks.reduceRight((right, left) =>
        left === undefined || right === undefined ? undefined : join(left, right),
      );
    },
  };
}

function nodeIn(stored: string, at: number): string | undefined {
  const node = stored.slice(at, at + 64);
  return /^[0-9a-f]{64}$/u.test(node) ? node : undefined;
}

function addLeaf(leaves: [number, number][], index: number): void {
  const last = leaves.at(-1);
  if (last !== undefined && last[1] === index - 1) last[1] = index;
  else leaves.push([index, index]);
}

/** Milliseconds. Clocks of several machines, or a corrected clock, legitimately differ by less. */
const TOLERANCE = 5 * 60_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;

/** Reports entries dated over 5 minutes before an earlier one, if no clock was noted as set back as much. */
function clockWatch(findings: Findings): { take(entry: LoggedEntry): void; finish(): void } {
  let latest = '';
  // The process that records it may be a moment behind another one of the same machine.
  let suspects: { readonly entry: LoggedEntry; readonly behind: number }[] = [];
  return {
    take(entry) {
      const { at, stream, seq } = entry;
      if (!TIME.test(at)) {
        findings.problem('entry.time', `entry ${seq} has no time that can be read`, { stream, seq });
        return;
      }
      const before = latest;
      latest = at;
      const noted = clockMoved(entry);
      if (noted < 0) suspects = suspects.filter(({ behind }) => behind > -noted * 1000 + TOLERANCE);
      if (at >= before) return;
      const behind = msOf(before) - msOf(at);
      if (behind <= TOLERANCE) latest = before;
      else if (!(behind <= -noted * 1000 + TOLERANCE)) suspects.push({ entry, behind });
    },
    finish() {
      for (const {
        entry: { stream, seq },
        behind,
      } of suspects) {
        const dated = `entry ${seq} is dated ${formatSeconds(Math.floor(behind / 1000))} before an earlier entry`;
        const message = `${dated}, and no entry says that a clock was set back`;
        findings.problem('entry.backdated', message, { stream, seq });
      }
    },
  };
}

/** An entry that requires a checkpoint after it. */
interface Demand {
  /** The minimum size of the checkpoint. */
  readonly size: number;
  readonly stream: string;
  readonly seq: number;
}

/** Each checkpoint covers everything before it, so the last demand of a kind counts. */
interface Demands {
  /** A checkpoint certainly existed: a call was sent, or another process continued after a run was left. */
  readonly certain: Demand | undefined;
  /** A run was closed or left at the end of the log: its process may have died before the checkpoint. */
  readonly likely: Demand | undefined;
}

const Outcome = z.object({ intent: z.string(), sent: z.string(), refused: z.boolean().optional() });
const Armed = z.object({ intent: z.string() });
/** A process begins with these, and writes a checkpoint that an earlier one may have omitted. */
const BEGINS: ReadonlySet<string> = new Set(['run.started', 'run.resumed', 'call.begun']);

function demandWatch(below: number): { take(entry: LoggedEntry): void; found(): Demands } {
  const armed = new Map<string, Demand>();
  let certain: Demand | undefined;
  let likely: Demand | undefined;
  return {
    take({ index, stream, seq, type, body }) {
      if (index >= below) return;
      const demand = { size: index + 1, stream, seq };
      if (type === 'intent.armed') {
        const { intent } = Armed.safeParse(jsonIn(body)).data ?? {};
        if (intent !== undefined) armed.set(`${stream} ${intent}`, demand);
      } else if (type === 'intent.outcome') {
        const { intent, sent, refused } = Outcome.safeParse(jsonIn(body)).data ?? {};
        const call = armed.get(`${stream} ${intent}`);
        // Without an answer, `absent` is the process's own statement that it did not send the call.
        if (call !== undefined && (sent !== 'absent' || refused === true)) certain = furthest(certain, call);
        armed.delete(`${stream} ${intent}`);
      } else if (stream.startsWith('run/') && (isEnd({ type }) || type === 'run.detached')) {
        likely = demand;
      } else if (likely !== undefined && BEGINS.has(type)) {
        certain = furthest(certain, likely);
        likely = undefined;
      }
    },
    found: () => ({ certain, likely }),
  };
}

function furthest(one: Demand | undefined, other: Demand): Demand {
  return one === undefined || other.size > one.size ? other : one;
}

export interface CheckedEntries {
  /** How many entries were hashed. */
  readonly checked: number;
  /** How many older ones were not read. */
  readonly unread: number;
  readonly problems: readonly Finding[];
}

export interface CheckEntriesOptions {
  /** The losses that a person accepted. */
  readonly losses?: readonly Loss[];
  /** Read only this many of the newest entries; all by default. */
  readonly newest?: number;
}

/**
 * Hashes entries and compares them with the stored tree, to find entries rewritten in place, which change
 * neither number nor signed head. Checks no checkpoints, keys or transcripts. Rejects with the log's errors.
 */
export async function checkEntries(
  log: Pick<Log, 'head' | 'stored'>,
  { losses = [], newest = Number.POSITIVE_INFINITY }: CheckEntriesOptions = {},
): Promise<CheckedEntries> {
  const findings = createFindings();
  const { size, root } = await log.head();
  const gaps = losses.flatMap((loss) => loss.gaps);
  const unread = Math.max(0, size - newest);
  // An accepted loss may extend beyond the first requested entry.
  const from = gaps.reduce((at, [first, last]) => (first <= at && at <= last ? last + 1 : at), unread);
  const before = from === 0 ? [] : [[0, from - 1] as [number, number]];
  const walk = createWalk(
    { sizes: new Set(), demandedBelow: 0, gaps: [...before, ...gaps], onEntry: () => undefined },
    findings,
  );
  if (from < size)
    for await (const entry of log.stored(from)) {
      walk.take(entry);
      if (walk.size() >= size) break;
    }
  walk.finish();
  const here = walk.size() === size ? walk.root() : undefined;
  if (here !== undefined && here !== root)
    findings.problem('head.other', `${counted(size, 'entry', 'entries')} do not match the root of the log`);
  return {
    checked: Math.max(0, walk.size() - walk.lost()),
    unread,
    problems: findings.list().filter(({ severity }) => severity === 'problem'),
  };
}

export function changedInWords([first, ...more]: readonly Finding[]): string {
  const where = first?.stream === undefined ? '' : `${first.stream}: `;
  return show(`${where}${first?.shortMessage}${more.length > 0 ? `, and ${more.length} more` : ''}`, 300);
}
