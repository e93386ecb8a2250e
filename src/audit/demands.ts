import { z } from 'zod';
import type { LoggedEntry } from '../store/journal.ts';
import { isEnd } from '../store/run-end.ts';

/** An entry that only a checkpoint may follow. */
export interface Demand {
  /** The size that the checkpoint has at least. */
  readonly size: number;
  readonly stream: string;
  readonly seq: number;
}

/**
 * What the record says about checkpoints: each covers all before it, so that only the last demand of a kind
 * counts.
 */
export interface Demands {
  /** A checkpoint was there for certain: a call went out, or another process went on after a run was left. */
  readonly certain: Demand | undefined;
  /**
   * A run was closed or left at the end of the log: its process may have died before it wrote the checkpoint.
   */
  readonly likely: Demand | undefined;
}

const Outcome = z.object({ intent: z.string(), sent: z.string(), refused: z.boolean().optional() });
const Armed = z.object({ intent: z.string() });
/** A process begins with these, and writes the checkpoint that one before it may have left out. */
const BEGINS: ReadonlySet<string> = new Set(['run.started', 'run.resumed', 'call.begun']);

/** Collects what entries below the leaf `below` demand. */
export function demandWatch(below: number): { take(entry: LoggedEntry): void; found(): Demands } {
  const armed = new Map<string, Demand>();
  let certain: Demand | undefined;
  let likely: Demand | undefined;
  return {
    take({ index, stream, seq, type, body }) {
      if (index >= below) return;
      const demand = { size: index + 1, stream, seq };
      if (type === 'intent.armed') {
        const { intent } = read(Armed, body) ?? {};
        if (intent !== undefined) armed.set(`${stream} ${intent}`, demand);
      } else if (type === 'intent.outcome') {
        const { intent, sent, refused } = read(Outcome, body) ?? {};
        const call = armed.get(`${stream} ${intent}`);
        // Without an answer, `absent` is what the process itself says of a call that it did not send.
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

function read<T>(schema: z.ZodType<T>, body: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}
