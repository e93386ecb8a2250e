import { backUpAndVerifyMachine } from './back-up-and-verify.ts';
import { changeInstanceMachine } from './change-instance.ts';
import {
  closingOfAction,
  closingOfBackup,
  closingOfRecovery,
  closingOfRestore,
  followUpsOf,
  unlessSimulated,
} from './closing/closing.ts';
import { sourceName } from './closing/evaluate.ts';
import { factsOf } from './closing/facts.ts';
import { closingOfStep, factsOfStep, titleOfStep } from './closing/plan-step.ts';
import { closingOfRotation, rotationFacts } from './closing/rotation.ts';
import { closingOfSingleChange, titleOfChange } from './closing/single-change.ts';
import type { RunContext } from './context.ts';
import { disasterRecoveryMachine } from './disaster-recovery.ts';
import * as inputs from './inputs.ts';
import type { LazyMachine } from './lazy-machine.ts';
import type { Runbook } from './parts/runbook.ts';
import { hasTagAt } from './parts/states.ts';
import { landedOf } from './parts/task-data.ts';
import { type OfferedRunbookId, type RunbookId, touchesOf } from './parts/touches.ts';
import { otherWays } from './phases/failing.ts';
import { planRunbook } from './plan-runbook.ts';
import { planStepMachine } from './plan-step.ts';
import { restoreBackupMachine } from './restore-backup.ts';
import { restorePointInTimeMachine } from './restore-point-in-time.ts';
import { rotateKeyMachine } from './rotate-key.ts';
import { singleChangeMachine } from './single-change.ts';

type Definition<Input> = Pick<Runbook<RunContext, Input>, 'title' | 'input' | 'closing'> &
  Partial<Pick<Runbook<RunContext, Input>, 'facts' | 'titleOf'>>;

/** The newest version of every runbook that a person chooses, by its id. */
export const runbooks: Readonly<Record<string, Runbook>> = {
  'rotate-key': defineRunbook(rotateKeyMachine, {
    title: 'rotate the encryption key and verify a backup',
    input: inputs.RotateKeyInput,
    facts: rotationFacts,
    closing: closingOfRotation,
  }),
  'disaster-recovery': defineRunbook(disasterRecoveryMachine, {
    title: 'recover a lost instance into another one',
    input: inputs.DisasterRecoveryInput,
    closing: closingOfRecovery,
  }),
  'restore-point-in-time': defineRunbook(restorePointInTimeMachine, {
    title: 'bring an instance back to a point in time',
    input: inputs.RestorePointInTimeInput,
    closing: closingOfRestore,
  }),
  'restore-backup': defineRunbook(restoreBackupMachine, {
    title: 'restore a backup into the same instance',
    input: inputs.RestoreBackupInput,
    closing: closingOfRestore,
  }),
  'back-up-and-verify': defineRunbook(backUpAndVerifyMachine, {
    title: 'create a backup and prove it',
    input: inputs.BackUpAndVerifyInput,
    closing: closingOfBackup,
  }),
  'change-instance': defineRunbook(changeInstanceMachine, {
    title: 'restart, recreate or update an instance',
    input: inputs.ChangeInstanceInput,
    closing: closingOfAction,
  }),
} satisfies { readonly [Id in OfferedRunbookId]: Runbook & { readonly id: Id } };

/** The runbook of commands that change an instance. Only a command starts it. */
export const singleChange = defineRunbook(singleChangeMachine, {
  title: 'make one change of an instance',
  titleOf: titleOfChange,
  input: inputs.SingleChangeInput,
  closing: closingOfSingleChange,
});

/** For the steps of a plan that run no other runbook. Only the run of a plan starts it. */
export const planStep = defineRunbook(planStepMachine, {
  title: 'do one step of a plan',
  titleOf: titleOfStep,
  input: inputs.PlanStepInput,
  facts: factsOfStep,
  closing: closingOfStep,
});

export const allRunbooks: readonly Runbook[] = [...Object.values(runbooks), singleChange, planStep];

/** Older versions, with which runs that they began are shown and resumed. */
export const OLDER: readonly Runbook[] = [];

/** Finds a version of a runbook; undefined if this program does not have it. */
export type FindRunbook = (id: string, version: string) => Runbook | undefined;

export const runbookOf: FindRunbook = findIn(OLDER);

export function findIn(older: readonly Runbook[]): FindRunbook {
  return (id, version) =>
    [...allRunbooks, planRunbook, ...older].find((one) => one.id === id && one.version === version);
}

export function defineRunbook<Id extends RunbookId, Input>(
  late: LazyMachine<Id>,
  definition: Definition<Input>,
): Runbook & { readonly id: Id } {
  const runbook: Runbook<RunContext, Input> & { readonly id: Id } = {
    facts: factsOf,
    ...definition,
    closing: (context, state) => unlessSimulated(context, definition.closing(context, state)),
    id: late.id,
    version: late.version,
    touches: (input) => touchesOf(late.id, input),
    get machine() {
      return late.machine;
    },
    failure: ({ failure }) => failure,
    waysOn: (context) => otherWays(context, true),
    skipped: ({ skipped }) => skipped,
    followUps: (context, state) =>
      followUpsOf(context, state !== undefined && hasTagAt(late.machine, state, 'sent')),
    keys,
  };
  return runbook as Runbook & { readonly id: Id };
}

/** The new key until it is proven, and the key of the backup until it is restored. */
function keys(context: RunContext): readonly string[] {
  const { key, source, proof, restore, run } = context;
  const { stored } = key;
  const isElsewhere = sourceName(context) !== run.instance;
  const isRestored = isElsewhere || landedOf(restore) !== undefined || restore.outside !== undefined;
  return [
    ...(stored === undefined || proof.verification?.opens === stored.fingerprint ? [] : [stored.fingerprint]),
    ...(source.from === undefined || source.from.fingerprint === '' || isRestored
      ? []
      : [source.from.fingerprint]),
  ];
}
