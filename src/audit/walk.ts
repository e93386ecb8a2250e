import { hash } from 'node:crypto';
import { show } from '../base/text.ts';
import { isCanonical, leafText } from '../store/canonical.ts';
import { LOG_STREAM, type LoggedEntry } from '../store/journal.ts';
import type { Loss } from '../store/log/losses.ts';
import { EMPTY_ROOT } from '../store/log/merkle.ts';
import { isStreamName } from '../store/new-entry.ts';
import { isEnd, mayFollowEnd } from '../store/run-entries.ts';
import type { Findings } from './verdict.ts';
import { clockWatch, type Demands, demandWatch } from './watches.ts';

/** What an audit learns by reading all entries once. */
export interface Walk {
  /** Takes the next entry of the log, whatever it holds. */
  take(entry: LoggedEntry): void;
  /** How many leaves the log has so far, those of an accepted loss among them. */
  size(): number;
  /** How many of them an accepted loss took. */
  lost(): number;
  /** The number that the next leaf has to have. */
  next(): number;
  streams(): number;
  /** The root over what was taken, hex; undefined where it hangs on a leaf that is lost. */
  root(): string | undefined;
  /**
   * The roots at the sizes that were asked for, as far as the log reaches, and when the last entry below each
   * was written; with `finish`, at its end. Undefined is a root that hangs on a leaf that is lost.
   */
  readonly roots: ReadonlyMap<number, { readonly root: string | undefined; readonly at: string }>;
  /** The stream `store/log`. */
  readonly aboutLog: readonly LoggedEntry[];
  demands(): Demands;
  /** The leaves of the stream that was asked for, in ranges. */
  readonly leaves: readonly (readonly [first: number, last: number])[];
  /** Called when all were taken. */
  finish(): void;
}

export interface WalkOptions {
  /** At which sizes the root is wanted. */
  readonly sizes: ReadonlySet<number>;
  /** Entries from this leaf on demand no checkpoint: they came while the audit ran. */
  readonly demandedBelow: number;
  /** Which leaves a person accepted as lost, in ranges. */
  readonly gaps?: Loss['gaps'] | undefined;
  /** Whose leaves are wanted. */
  readonly stream?: string | undefined;
  /** Is given each entry, once it was checked. */
  readonly onEntry: (entry: LoggedEntry) => void;
}

/** Checks each entry by itself and against those before it, and computes the tree of their hashes anew. */
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

  /** What is lost by acceptance leaves a hole in the tree, and no other. */
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
      // What has no place in the log comes last.
      next = Math.max(next, index + 1);
      if (hash('sha256', `\0${leafText(entry)}`, 'hex') !== entry.hash)
        problem('entry.changed', `entry ${seq} was changed: its content does not match its hash`);
      if (!isCanonical(entry.body)) problem('entry.body', `the body of entry ${seq} is not canonical JSON`);
      // The tree is that of the hashes: the hash of a changed entry stays signed, and only that is a finding.
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

/** The tree of RFC 6962 as it grows; hashes are hex, which costs less than buffers do. */
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
     * Adds a leaf; gives the nodes that it completes, from level 1 up. Above a leaf that is lost they are
     * those that are stored with it: the next root that was signed shows whether they are true.
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
    /** Goes on at another size, with leaves of which nothing is known in between. */
    skip(to: number) {
      const from = size;
      const before = peaks.splice(0);
      for (let [start, width] = [0, 2 ** 52]; width >= 1; width /= 2) {
        if (Math.floor(to / width) % 2 === 0) continue;
        // Both have the same peaks up to the first that reaches beyond what is known.
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
