import { assign } from 'xstate';
import { RESTORES_CALL } from '../parts/ground.ts';
import { failTo, failure } from './failing.ts';
import { recovery } from './setup.ts';

/**
 * What is read before anything is decided. V0 has the lists alone; what it leaves unsaid stands in the facts.
 */
const GETS = [
  { method: 'GET', path: '', what: 'the instance and its state', optional: true },
  { method: 'GET', path: '/backups-config', what: 'retention, least key length', optional: true },
  { method: 'GET', path: '/backups', what: 'the newest backup, tasks under way' },
] as const;

/**
 * Looks at the instance. With `tolerant` an instance that has failed is no reason to go no further: a restore
 * is what it may need. With `restores` a restore that is under way is such a reason: it would replace what
 * the change brings, or be disturbed by it.
 */
export function check({
  tolerant,
  restores = false,
  next,
}: {
  readonly tolerant: boolean;
  readonly restores?: boolean;
  readonly next: string;
}) {
  return {
    checking: recovery.createStateConfig({
      meta: {
        step: 'preflight',
        title: 'looking at the instance',
        slice: 'decide',
        calls: [...GETS, ...(restores ? [RESTORES_CALL] : [])],
      },
      invoke: {
        id: 'preflight',
        src: 'preflight',
        input: ({ context }) => ({
          instance: context.instance,
          ...(tolerant ? { tolerant: true as const } : {}),
          ...(restores ? { restores: true as const } : {}),
        }),
        onDone: {
          target: 'sorting',
          actions: assign({ facts: ({ event }) => event.output, drift: [], failure: undefined }),
        },
        onError: failTo('checkFailed'),
      },
    }),
    checkFailed: failure({
      step: 'preflight',
      title: 'the instance could not be read',
      retry: 'checking',
      ways: {
        retry: 'asks the service again; nothing has been changed',
        skip: { disabled: 'without these facts there is nothing to confirm' },
        markDone: { disabled: 'only the service can give these facts' },
      },
    }),
    sorting: recovery.createStateConfig({
      meta: { step: 'preflight', title: 'weighing what was found' },
      always: [{ guard: 'isBlocked', target: 'blocked', actions: 'keepFirstBlocker' }, { target: next }],
    }),
    blocked: failure({
      step: 'preflight',
      title: 'something stands in the way',
      retry: 'checking',
      next,
      ways: {
        retry: 'asks the service again; nothing has been changed',
        skip: 'the run goes on although this was found',
        markDone: 'how was it settled?',
      },
    }),
  };
}
