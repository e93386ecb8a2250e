import { z } from 'zod';
import type { Triggered } from '../../machines/parts/verbs.ts';
import { LifeboatError } from '../errors.ts';
import type { Backup } from '../service/schemas.ts';
import { show } from '../text.ts';
import type { Judgement } from './activity.ts';

/** The world before a backup was asked for. Times in milliseconds; `skewMs` is how far the service's clock is ahead. */
export const BackupBaseline = z.object({
  ids: z.array(z.number()),
  skewMs: z.number().nullable(),
});
export type BackupBaseline = z.infer<typeof BackupBaseline>;

export interface Look {
  readonly baseline: BackupBaseline;
  readonly armedAtMs: number;
  readonly nowMs: number;
  readonly settleMs: number;
  readonly backups: readonly Backup[];
}

/** A `Date` header tells whole seconds and travels for a while; a task this much older than the request is still taken for ours. */
const CLOCK_MARGIN_MS = 5_000;
const FIRST_LOOK_MS = 500;
const LATER_LOOK_MS = 5_000;

/**
 * Decides what became of a lost request for a backup, from the service's list alone. Exactly one new backup: it landed (any fresh one
 * serves, even a scheduled one). None: wait until a request can no longer be under way, then it is absent. Several: a
 * person decides, with the candidates in hand. Pure.
 */
export function judgeBackup(look: Look): Judgement<Triggered> {
  const candidates = look.backups.filter((backup) => isCandidate(backup, look));
  const [only, another] = candidates;
  if (only !== undefined && another === undefined) {
    return {
      verdict: 'landed',
      output: { landed: true, id: only.id, adopted: true },
      evidence: { candidate: line(only) },
    };
  }
  if (another !== undefined) {
    const failure = new LifeboatError(
      'doubt.ambiguous',
      `the answer was lost, and the service shows ${candidates.length} new backups`,
      {
        hints: ['adopt one of them, or look again; nothing is sent until you decide'],
        evidence: { candidates: candidates.slice(0, 20).map(line) },
      },
    );
    return { verdict: 'ambiguous', failure: failure.toFailure() };
  }
  const untilMs = look.armedAtMs + look.settleMs;
  if (look.nowMs < untilMs) {
    const pace = look.nowMs - look.armedAtMs < 10_000 ? FIRST_LOOK_MS : LATER_LOOK_MS;
    return { verdict: 'wait', ms: Math.min(pace, untilMs - look.nowMs + 1), untilMs };
  }
  return {
    verdict: 'absent',
    evidence: { listed: look.backups.length, waitedMs: look.nowMs - look.armedAtMs },
  };
}

function isCandidate(backup: Backup, { baseline, armedAtMs }: Look): boolean {
  if (baseline.ids.includes(backup.id)) return false;
  const triggered = Date.parse(backup.triggered_at ?? '');
  if (Number.isNaN(triggered)) return true;
  return triggered >= armedAtMs + (baseline.skewMs ?? 0) - CLOCK_MARGIN_MS;
}

function line(backup: Backup) {
  return {
    id: backup.id,
    status: show(backup.status, 40),
    triggeredAt: backup.triggered_at === undefined ? null : show(backup.triggered_at, 40),
  };
}
