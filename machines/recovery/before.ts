import { assign } from 'xstate';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';
import { restoredSide } from './weigh.ts';

interface Around {
  readonly next: string;
}

/** What the ledger has on record: the recovery card, proven backups, keys. Nothing of the service is called. */
export function readRecord({
  state,
  step,
  next,
}: Around & { readonly state: string; readonly step: string }) {
  return {
    [state]: recovery.createStateConfig({
      meta: { step, title: 'reading the recovery card and the proven backups on record', slice: 'decide' },
      invoke: {
        id: state,
        src: 'readCard',
        input: {},
        onDone: {
          target: next,
          actions: assign({ onRecord: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo(`${state}Failed`),
      },
    }),
    [`${state}Failed`]: failure({
      step,
      title: 'the record could not be read',
      retry: state,
      next,
      ways: {
        retry: 'reads the ledger and the key store again',
        skip: 'the run goes on as if nothing were on record',
        markDone: { disabled: 'the record is read here or nowhere' },
      },
    }),
  };
}

/** What is lost by a restore is noted before it: what the data says of itself, and how the applications are bound. */
export function keepBefore({ next }: Around) {
  return {
    countingBefore: recovery.createStateConfig({
      meta: {
        step: 'before',
        title: 'asking the data for its newest record',
        slice: 'decide',
        does: ['the reconciliation command of the config, when there is one'],
      },
      invoke: {
        id: 'countBefore',
        src: 'reconcile',
        input: { when: 'before' as const },
        onDone: {
          target: 'savingBindings',
          actions: assign({ before: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('countingBeforeFailed'),
      },
    }),
    countingBeforeFailed: failure({
      step: 'before',
      title: 'the data could not be asked',
      retry: 'countingBefore',
      next: 'savingBindings',
      ways: {
        retry: 'runs the reconciliation command again',
        skip: 'what is lost is then measured by the time of the backup only',
        markDone: { disabled: 'its output is needed, and only the command gives it' },
      },
    }),
    savingBindings: recovery.createStateConfig({
      meta: {
        step: 'before',
        title: 'keeping names and parameters of the bindings',
        slice: 'decide',
        does: [
          'platform: find the service instance, its bindings and keys',
          'platform: read the parameters of the bindings into private files',
        ],
      },
      invoke: {
        id: 'saveBindings',
        src: 'findDuties',
        input: ({ context }) => ({
          restored: restoredSide(context) ?? ('instance' as const),
          ...(context.onlyApps === undefined ? {} : { only: context.onlyApps }),
        }),
        onDone: {
          target: next,
          actions: assign({ duties: ({ event }) => event.output, failure: undefined }),
        },
        onError: failTo('savingFailed'),
      },
    }),
    savingFailed: failure({
      step: 'before',
      title: 'it is not known what is bound',
      retry: 'savingBindings',
      next,
      ways: {
        retry: 'asks the platform again',
        skip: 'after the restore it is asked again; parameters of bindings may be lost by then',
        markDone: 'where are the names and parameters of the bindings kept?',
      },
    }),
  };
}
