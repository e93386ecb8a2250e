import * as z from 'zod';
import { formatSeconds } from '../base/format.ts';
import { msOf } from '../base/instant.ts';
import { jsonIn } from '../store/canonical.ts';
import type { LoggedEntry } from '../store/journal.ts';
import { clockMoved } from '../store/log/log-entries.ts';
import { isEnd } from '../store/run-entries.ts';
import type { Findings } from './verdict.ts';

/** Milliseconds. Clocks of several machines, or a corrected clock, legitimately differ by less. */
const TOLERANCE = 5 * 60_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;

/**
 * Finds back-dated entries: older than an earlier entry in the log by more than five minutes, without an
 * entry that the clock was set back by as much.
 */
export function clockWatch(findings: Findings): { take(entry: LoggedEntry): void; finish(): void } {
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
export interface Demand {
  /** The minimum size of the checkpoint. */
  readonly size: number;
  readonly stream: string;
  readonly seq: number;
}

/**
 * What the record implies about checkpoints. Each covers everything before it, so the last demand of a kind
 * counts.
 */
export interface Demands {
  /** A checkpoint certainly existed: a call was sent, or another process continued after a run was left. */
  readonly certain: Demand | undefined;
  /** A run was closed or left at the end of the log: its process may have died before the checkpoint. */
  readonly likely: Demand | undefined;
}

const Outcome = z.object({ intent: z.string(), sent: z.string(), refused: z.boolean().optional() });
const Armed = z.object({ intent: z.string() });
/** A process begins with these, and writes a checkpoint that an earlier one may have omitted. */
const BEGINS: ReadonlySet<string> = new Set(['run.started', 'run.resumed', 'call.begun']);

/** Collects the demands of entries below the leaf `below`. */
export function demandWatch(below: number): { take(entry: LoggedEntry): void; found(): Demands } {
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
