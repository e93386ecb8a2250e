import { assign } from 'xstate';
import { failureFrom } from '../../src/base/failure.ts';
import {
  bindsBeside,
  isForAll,
  notBefore,
  platformInstance,
  restoredName,
  restoredSide,
} from '../closing/evaluate.ts';
import type { RunContext } from '../context.ts';
import type { Bound, PlatformProof } from '../parts/recovery-data.ts';
import { assignWith, changed } from '../setup.ts';
import { when, whenEvent } from './guards.ts';
import {
  begun,
  closed,
  currentApp,
  currentKey,
  hasCommand,
  type PlatformStep,
  withOldBinding,
} from './open-follow-ups.ts';
import { state } from './phase.ts';

/** Its failure is shown once the other follow-ups are done. */
const BACK = {
  target: 'evaluating',
  actions: assignWith<{ error: unknown }>(({ context, event }) => backWith(context, event.error)),
};

function backWith(context: RunContext, error: unknown): Partial<RunContext> {
  const { doingAll, stuck, doing } = context.followUps;
  const failure = failureFrom(error);
  return {
    ...changed(context, 'followUps', {
      // A platform that asks to be left alone, or cannot be reached, is not asked for the next one.
      doingAll: doingAll && !isForAll(failure),
      stuck: [...stuck, ...(doing === undefined ? [] : [doing])],
      doing: undefined,
    }),
    failure,
  };
}

/** The team's command has run, or may have; only its author knows what it did. */
const RAN: ReadonlySet<string> = new Set(['activity.lost', 'reconnect.failed', 'reconnect.timeout']);

const BACK_FROM_COMMAND = {
  target: 'evaluating',
  actions: assignWith<{ error: unknown }>(({ context, event }) => {
    const hasRun = RAN.has(failureFrom(event.error).code);
    const list = hasRun ? begun(context) : context.followUps.list;
    return backWith({ ...context, followUps: { ...context.followUps, list } }, event.error);
  }),
};

function onwards(step: PlatformStep, target: string) {
  return {
    target,
    actions: assignWith<{ output: PlatformProof }>(({ context, event }) => ({
      followUps: {
        ...context.followUps,
        proofs: [...context.followUps.proofs, { step, proof: event.output }],
      },
    })),
  };
}

function closes(step: PlatformStep) {
  return {
    target: 'evaluating',
    actions: assignWith<{ output: PlatformProof }>(({ context, event }) =>
      closedBy(context, step, event.output),
    ),
  };
}

function closedBy(context: RunContext, step: PlatformStep, proof: PlatformProof): Partial<RunContext> {
  const { proofs: before, bound, doing, stuck } = context.followUps;
  const proofs = [...before, { step, proof }];
  const { followUps } = closed(context, doing ?? '', {
    how: howOf(step, before, bound?.way),
    text: proofs.map((one) => one.proof.text).join('; '),
    at: proof.at,
    evidence: Object.fromEntries(proofs.map((one) => [one.step, one.proof.evidence])),
  });
  return {
    followUps: { ...followUps, proofs: [] },
    // The failure of the same turn still needs a person.
    failure: stuck.length === 0 ? undefined : context.failure,
  };
}

function howOf(step: PlatformStep, before: readonly { step: PlatformStep }[], way: Bound['way'] = 'hand') {
  if (step !== 'prove') return way;
  return before.some((one) => one.step === 'reconnect') ? 'command' : 'hand';
}

const isBeside = when('the old binding is kept meanwhile', bindsBeside);

/** One application or key after the other. Each step may be repeated: it finds what is already done. */
export const rebinding = {
  unbinding: state({
    meta: {
      title: 'unbinding an application',
      does: ['platform: delete the binding of each application, and wait until it is gone'],
      wayBack: 'it is bound again with the name and parameters that were kept',
    },
    invoke: {
      id: 'unbind',
      src: 'unbindApp',
      input: ({ context }) => ({ app: appOf(context) }),
      onDone: [{ guard: isBeside, ...closes('unbind') }, onwards('unbind', 'binding')],
      onError: [
        {
          // The broker of a lost instance cannot be reached; the application must not wait for it.
          guard: whenEvent<{ error: unknown }>(
            'the broker of a lost instance is away',
            (context, { error }) => canBindWithout(context, error),
          ),
          target: 'binding',
          actions: assign(({ context, event }) => withOldBinding(context, failureFrom(event.error))),
        },
        BACK,
      ],
    },
  }),
  binding: state({
    meta: {
      title: 'binding it to the restored data',
      does: ['platform: bind it with its previous name and parameters, and wait until it is there'],
      wayBack: 'unbind it',
    },
    invoke: {
      id: 'bind',
      src: 'bindApp',
      input: ({ context }) => ({
        app: appOf(context),
        to: platformInstance(context),
        notBefore: notBefore(context),
        beside: bindsBeside(context),
      }),
      onDone: onwards('bind', 'restaging'),
      onError: BACK,
    },
  }),
  restaging: state({
    meta: {
      title: 'restaging it, so that it takes its new credentials',
      does: ['platform: stage it again, roll it out and wait until every instance runs'],
      wayBack: 'the previous droplet can be rolled out again, but its credentials no longer work',
    },
    invoke: {
      id: 'restage',
      src: 'restageApp',
      input: ({ context }) => ({ app: appOf(context), notBefore: notBefore(context) }),
      onDone: [{ guard: isBeside, ...onwards('restage', 'unbinding') }, closes('restage')],
      onError: BACK,
    },
  }),
  renewingKey: state({
    meta: {
      title: 'recreating a service key',
      does: ['platform: delete each service key and create it again under its name'],
      wayBack: 'none: the old key has no access to the restored data',
    },
    invoke: {
      id: 'renewKey',
      src: 'renewServiceKey',
      input: ({ context }) => ({
        key: currentKey(context) ?? { name: '' },
        to: platformInstance(context),
        notBefore: notBefore(context),
      }),
      onDone: closes('renew'),
      onError: BACK,
    },
  }),
  reconnecting: state({
    meta: {
      title: 'running the command of the config that reconnects an application',
      does: ['each `reconnect` command of the config, and its proof'],
      wayBack: 'as far as the command has one',
    },
    invoke: {
      id: 'reconnect',
      src: 'reconnectApp',
      input: ({ context }) => ({ app: appOf(context), to: restoredName(context) }),
      onDone: {
        target: 'proving',
        actions: assignWith<{ output: PlatformProof }>(({ context, event }) => ({
          followUps: {
            ...context.followUps,
            list: begun(context),
            proofs: [...context.followUps.proofs, { step: 'reconnect', proof: event.output }],
          },
        })),
      },
      onError: BACK_FROM_COMMAND,
    },
  }),
  proving: state({
    meta: { title: 'checking that it runs with new credentials' },
    invoke: {
      id: 'proveApp',
      src: 'proveApp',
      input: ({ context }) => ({
        app: appOf(context),
        to: hasCommand(context) ? { guid: '', name: restoredName(context) } : platformInstance(context),
        notBefore: notBefore(context),
      }),
      onDone: closes('prove'),
      onError: BACK,
    },
  }),
};

/** The data was restored elsewhere and the lost instance's broker failed: the old binding can stay. */
function canBindWithout(context: RunContext, error: unknown): boolean {
  return restoredSide(context) === 'target' && failureFrom(error).code === 'platform.failed';
}

/** Throws when no application is being rebound. */
function appOf(context: RunContext) {
  const app = currentApp(context);
  if (app === undefined) throw new Error('no application is being bound at this point');
  return app;
}
