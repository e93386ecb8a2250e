import { z } from 'zod';
import { keepBindingsFallback } from '../fallback/before.ts';
import { Reconciliation } from '../parts/recovery-data.ts';
import { changed } from '../setup.ts';
import { type Phase, phase, type States } from './phase.ts';
import { task } from './task.ts';

export const BeforeSlice = z.object({ counted: Reconciliation.optional() });

/**
 * What the ledger has on record: the recovery card, proven backups, keys. Nothing of the service is called.
 */
export function readRecord(step: string, next: string): States {
  return task('readingRecord', {
    verb: 'readCard',
    id: `readCard-${step}`,
    title: 'reading the recovery card and the proven backups on record',
    slice: 'decide',
    input: () => ({}),
    keep: (context, onRecord) => changed(context, 'card', { onRecord }),
    next,
    failed: {
      step,
      title: 'the record could not be read',
      next,
      ways: {
        retry: 'reads the ledger and the key store again',
        skip: 'the run goes on as if nothing were on record',
        markDone: { disabled: 'only lifeboat reads this record' },
      },
    },
  });
}

interface Before {
  readonly withRecord?: boolean;
  readonly onDone: string;
}

/**
 * What is lost by a restore is noted before it: what the data says of itself, and how the applications are
 * bound.
 */
export function keepBefore({ withRecord = false, onDone }: Before): Phase {
  const head = {
    title: 'save what the restore loses',
    like: 'before',
    slice: 'decide' as const,
    fallback: keepBindingsFallback,
    onDone,
  };
  return phase(head, (step) => ({
    ...(withRecord ? readRecord(step, 'counting') : {}),
    ...task('counting', {
      verb: 'reconcile',
      id: 'countBefore',
      title: 'querying the data for its newest record',
      does: ['the reconciliation command of the config, when there is one'],
      input: () => ({ when: 'before' as const }),
      keep: (context, counted) => changed(context, 'before', { counted }),
      next: 'keepingBindings',
      failed: {
        step,
        title: 'the data could not be queried',
        next: 'keepingBindings',
        ways: {
          retry: 'runs the reconciliation command again',
          skip: 'what is lost is then measured by the time of the backup only',
          markDone: { disabled: 'its output is needed, and only the command gives it' },
        },
      },
    }),
    ...task('keepingBindings', {
      verb: 'findBound',
      id: 'saveBindings',
      title: 'saving names and parameters of the bindings',
      does: [
        'platform: find the service instance, its bindings and keys',
        'platform: read the parameters of the bindings into private files',
      ],
      input: ({ run: { target, onlyApps } }) => ({
        restored: target.kind === 'other' ? ('target' as const) : ('instance' as const),
        ...(onlyApps === undefined ? {} : { only: onlyApps }),
      }),
      keep: (context, bound) => changed(context, 'followUps', { bound }),
      next: 'over',
      failed: {
        step,
        title: 'it is not known what is bound',
        next: 'over',
        ways: {
          retry: 'asks the platform again',
          skip: 'the platform is asked again after the restore; binding parameters may be lost by then',
          markDone: 'where are the names and parameters of the bindings kept?',
        },
      },
    }),
  }));
}
