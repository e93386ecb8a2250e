import * as z from 'zod';
import { Failure } from '../src/base/failure.ts';
import { type RunInput, SingleChange } from './inputs.ts';
import { isOneBackup } from './parts/backup-id.ts';
import type { Step } from './parts/plan.ts';
import { RUNBOOK_IDS, type RunbookId } from './parts/touches.ts';
import { CountSlice } from './phases/after-restore.ts';
import { AvailableSlice } from './phases/available.ts';
import { BeforeSlice } from './phases/before.ts';
import { CardSlice } from './phases/card.ts';
import { ChooseSlice } from './phases/choose.ts';
import { ConfirmSlice } from './phases/confirm.ts';
import { FollowUpsSlice } from './phases/follow-ups.ts';
import { KeySlice } from './phases/key.ts';
import { OldBackupSlice } from './phases/old-backup.ts';
import { OnceSlice } from './phases/once.ts';
import { OutsideSlice } from './phases/plan-step.ts';
import { PreflightSlice } from './phases/preflight.ts';
import { ProofSlice } from './phases/prove.ts';
import { RecordSlice } from './phases/record.ts';
import { SettingsSlice } from './phases/settings.ts';
import { SourceSlice } from './phases/source.ts';
import { TargetSlice } from './phases/target.ts';
import { UpdatesSlice } from './phases/updates.ts';

const Run = () =>
  z.object({
    runbook: z.enum(RUNBOOK_IDS),
    instance: z.string(),
    /** The instance that a restore of this run changes. */
    target: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('in-place') }),
      z.object({ kind: z.literal('other'), name: z.string() }),
    ]),
    reason: z.string().optional(),
    incidentAt: z.string().optional(),
    onlyApps: z.array(z.string()).optional(),
    mode: z.enum(['prepare', 'perform', 'both']).optional(),
    action: z.enum(['restart', 'recreate', 'update']).optional(),
    single: SingleChange().optional(),
    /** The step of a plan, and the objectives of the plan in milliseconds. */
    step: z.custom<Step>().optional(),
    objectives: z.object({ rto: z.number().optional(), rpo: z.number().optional() }).optional(),
    rehearsal: z.boolean().optional(),
    /** A backup's id or `backup_id`, or a point in time, still unchecked. */
    asked: z.object({
      backup: z.number().optional(),
      guid: z.string().optional(),
      time: z.string().optional(),
    }),
  });

/** A run folds its journal into it without parsing; tests validate it against the schema. */
export const RunContext = () =>
  z.object({
    run: Run(),
    failure: Failure().optional(),
    /** Skipped steps with their reasons; `step` is a phase or a follow-up. */
    skipped: z.array(z.object({ step: z.string(), reason: z.string() })),
    preflight: PreflightSlice(),
    card: CardSlice(),
    choose: ChooseSlice(),
    source: SourceSlice(),
    target: TargetSlice(),
    before: BeforeSlice(),
    oldBackup: OldBackupSlice(),
    key: KeySlice(),
    updates: UpdatesSlice(),
    settings: SettingsSlice(),
    confirm: ConfirmSlice(),
    safeguard: OnceSlice(),
    backup: OnceSlice(),
    restore: OnceSlice(),
    fresh: OnceSlice(),
    act: OnceSlice(),
    outside: OutsideSlice(),
    proof: ProofSlice(),
    available: AvailableSlice(),
    count: CountSlice(),
    followUps: FollowUpsSlice(),
    record: RecordSlice(),
  });
export type RunContext = z.infer<ReturnType<typeof RunContext>>;

function actionOf(single: SingleChange | undefined): RunContext['run']['action'] {
  const { change } = single ?? {};
  return change === 'restart' || change === 'recreate' || change === 'update' ? change : undefined;
}

/** The command of a single recovery names all of its source. */
function sourceOf(single: SingleChange | undefined): RunContext['source'] {
  const { change, guid = '', fingerprint = '' } = single ?? {};
  if (change !== 'performRecovery') return {};
  return { from: { guid, fingerprint, what: isOneBackup(guid) ? 'backup' : 'newest', how: 'typed' } };
}

/**
 * Created once: XState also computes the initial state without an input at each transition and drops the
 * error. Creating an error each time would cost more than the transition.
 */
const NO_INPUT = new TypeError('a run begins with an input');

export function initialContext(runbook: RunbookId, input: RunInput): RunContext {
  if (input === undefined) throw NO_INPUT;
  const { instance, target, reason, incidentAt, apps, mode, rehearsal, backup, time, single } = input;
  const action = input.action ?? actionOf(single);
  const task = { intents: 1, absences: 0, send: { is: 'open' as const } };
  return {
    run: {
      runbook,
      instance,
      target: target === undefined ? { kind: 'in-place' } : { kind: 'other', name: target },
      reason,
      incidentAt,
      onlyApps: apps && [...apps],
      mode,
      action,
      single,
      step: input.step,
      objectives: input.objectives,
      rehearsal,
      asked: {
        backup: typeof backup === 'number' ? backup : undefined,
        guid: typeof backup === 'string' ? backup : undefined,
        time,
      },
    },
    skipped: [],
    preflight: {},
    card: {},
    choose: {},
    source: sourceOf(single),
    target: { overridden: [] },
    before: {},
    oldBackup: {},
    key: { isWanted: false },
    updates: { isStopping: false },
    settings: {},
    confirm: { drift: [] },
    safeguard: { ...task },
    backup: { ...task },
    restore: { ...task },
    fresh: { ...task },
    act: { ...task },
    outside: { approved: 0 },
    proof: {},
    available: {},
    count: {},
    followUps: { isOpened: false, list: [], proofs: [], doingAll: false, stuck: [] },
    record: { isProven: false },
  };
}
