import * as z from 'zod';
import { restoredSide } from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import { safetyFallback } from '../fallback/backing-up.ts';
import { keepBindingsFallback } from '../fallback/steps.ts';
import { Reconciliation } from '../parts/recovery-data.ts';
import { changed } from '../setup.ts';
import { choice, type Option, type RunQuestion, stop } from './asking.ts';
import { backup } from './backup.ts';
import { noteReason } from './failing.ts';
import { type Exits, type Phase, phase, type States, state, to } from './phase.ts';
import { task } from './task.ts';

export const BeforeSlice = () => z.object({ counted: Reconciliation().optional() });

const READ_RECORD_WORDS = {
  readingRecord: { title: 'reading the recovery card and the proven backups on record', slice: 'decide' },
  readingRecordFailed: {
    title: 'the record could not be read',
    ways: {
      retry: 'reads the ledger and the key store again',
      skip: 'the run goes on as if nothing were on record',
      markDone: { disabled: 'only lifeboat reads this record' },
    },
  },
} as const;

/** From the ledger, without calling the service. */
export function readRecord(step: string, next: string, stop: string): States {
  return task('readingRecord', {
    verb: 'readCard',
    id: `readCard-${step}`,
    ...READ_RECORD_WORDS.readingRecord,
    input: () => ({}),
    keep: (context, onRecord) => changed(context, 'card', { onRecord }),
    next,
    failed: {
      step,
      ...READ_RECORD_WORDS.readingRecordFailed,
      next,
      stop,
    },
  });
}

/** For a run that saves nothing else before its restore. */
export function recordOnly({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  const head = { title: 'read what is on record', slice: 'decide' as const, exits };
  return phase(head, (step) => readRecord(step, 'over', to(exits.stop)));
}

interface Before {
  readonly exits: Exits<'stop'>;
}

export function keepBefore({ exits }: Before): Phase {
  return phase(headOfKeeping(exits), (step) => keeping(step, to(exits.stop)));
}

/** For a run that has not read the record yet. */
export function readRecordAndKeepBefore({ exits }: Before): Phase {
  const stop = to(exits.stop);
  return phase(headOfKeeping(exits), (step) => ({
    ...readRecord(step, 'counting', stop),
    ...keeping(step, stop),
  }));
}

function headOfKeeping(exits: Before['exits']) {
  return {
    title: 'save what the restore loses',
    like: 'before',
    slice: 'decide' as const,
    fallback: keepBindingsFallback,
    exits,
  };
}

const KEEPING_WORDS = {
  counting: {
    title: 'querying the data for its newest record',
    does: ['the reconciliation command of the config, when there is one'],
  },
  countingFailed: {
    title: 'the data could not be queried',
    ways: {
      retry: 'runs the reconciliation command again',
      skip: 'what is lost is then measured by the time of the backup only',
      markDone: { disabled: 'its output is needed, and only the command gives it' },
    },
  },
  keepingBindings: {
    title: 'saving names and parameters of the bindings',
    does: [
      'platform: find the service instance, its bindings and keys',
      'platform: read the parameters of the bindings into private files',
    ],
  },
  keepingBindingsFailed: {
    title: 'what is bound is not known',
    ways: {
      retry: 'asks the platform again',
      skip: 'the platform is asked again after the restore; binding parameters may be lost by then',
      markDone: 'where are the names and parameters of the bindings kept?',
    },
  },
} as const;

function keeping(step: string, stop: string): States {
  return {
    ...task('counting', {
      verb: 'reconcile',
      id: 'countBefore',
      ...KEEPING_WORDS.counting,
      input: () => ({ when: 'before' as const }),
      keep: (context, counted) => changed(context, 'before', { counted }),
      next: 'keepingBindings',
      failed: {
        step,
        ...KEEPING_WORDS.countingFailed,
        next: 'keepingBindings',
        stop,
      },
    }),
    ...task('keepingBindings', {
      verb: 'findBound',
      id: 'saveBindings',
      ...KEEPING_WORDS.keepingBindings,
      input: (context) => ({
        restored: restoredSide(context),
        only: context.run.onlyApps,
      }),
      keep: (context, bound) => changed(context, 'followUps', { bound }),
      next: 'over',
      failed: {
        step,
        ...KEEPING_WORDS.keepingBindingsFailed,
        next: 'over',
        stop,
      },
    }),
  };
}

/** The only way back from a restore in place. */
export function safetyBackup({ exits }: { readonly exits: Exits<'stop'> }): Phase {
  return backup({
    title: 'back up the present state',
    task: 'safeguard',
    what: 'the present state',
    slice: 'decide',
    without: { hint: 'the present state is lost for good by the restore' },
    fallback: safetyFallback,
    exits,
    offer: (step) => ({
      offering: state({
        tags: ['question'],
        meta: {
          title: 'a backup of the present state',
          question: askForSafety,
          wayBack: 'restoring that backup brings the present state back',
        },
        on: {
          'operator.backUp': 'sending',
          'operator.goOnWithout': {
            target: 'over',
            actions: noteReason(step),
          },
          'operator.stop': to(exits.stop),
        },
      }),
    }),
  });
}

const USABLE: readonly (string | undefined)[] = ['available', 'provisioned'];

function askForSafety({ preflight: { facts }, run: { instance } }: RunContext): RunQuestion {
  const { baseline, unsaid } = facts ?? {};
  const isUsable = USABLE.includes(baseline?.state);
  const state =
    unsaid === undefined
      ? `${instance} ${baseline?.state === undefined ? 'reports no state' : `is ${baseline.state}`}`
      : `${unsaid.by} does not say whether ${instance} is available`;
  const backUp: Option = {
    event: { type: 'operator.backUp' },
    label: 'back up the present state first',
    hint: isUsable
      ? 'however wrong it is, it is the only way back from the restore'
      : `${state}, so the backup may fail; it does no harm`,
    recommended: isUsable || unsaid !== undefined,
  };
  return choice(`the restore replaces everything that ${instance} holds now: back it up first?`, [
    backUp,
    {
      event: { type: 'operator.goOnWithout' },
      label: 'go on without a backup',
      hint: 'what the instance holds now is lost for good',
      needs: { what: 'reason', prompt: 'why is the present state not backed up?' },
    },
    stop,
  ]);
}
