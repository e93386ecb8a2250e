import { recovery } from './setup.ts';
import { bindsBeside, notBefore, paidApp, paidKey, platformInstance } from './weigh.ts';

/** A step at the platform that failed leads back to what is owed, where it is shown once the others are done. */
const BACK = {
  target: 'weighingOwed',
  actions: {
    type: 'keepPaymentFailure' as const,
    params: ({ event }: { event: { error: unknown } }) => ({ error: event.error }),
  },
};

/** One application or key after the other, by the platform. Every step may be done again: what is done already is found to be. */
export const rebinding = {
  unbinding: recovery.createStateConfig({
    meta: {
      step: 'owe',
      title: 'unbinding an application',
      slice: 'rebind',
      does: ['platform: delete the binding of each application, and wait until it is gone'],
      wayBack: 'it is bound again with the name and parameters that were kept',
    },
    invoke: {
      id: 'unbind',
      src: 'unbindApp',
      input: ({ context }) => ({ app: appOf(context) }),
      onDone: [
        {
          guard: 'bindsBeside',
          target: 'weighingOwed',
          actions: { type: 'settlePaid', params: ({ event }) => ({ step: 'unbind', proof: event.output }) },
        },
        {
          target: 'binding',
          actions: { type: 'keepProof', params: ({ event }) => ({ step: 'unbind', proof: event.output }) },
        },
      ],
      onError: [
        {
          // The broker of a lost instance cannot be reached; the application must not wait for that.
          guard: { type: 'canBindWithout', params: ({ event }) => ({ error: event.error }) },
          target: 'binding',
          actions: { type: 'oweOldBinding', params: ({ event }) => ({ error: event.error }) },
        },
        BACK,
      ],
    },
  }),
  binding: recovery.createStateConfig({
    meta: {
      step: 'owe',
      title: 'binding it to the restored data',
      slice: 'rebind',
      does: ['platform: bind it with the name and parameters of before, and wait until it is there'],
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
      onDone: {
        target: 'restaging',
        actions: { type: 'keepProof', params: ({ event }) => ({ step: 'bind', proof: event.output }) },
      },
      onError: BACK,
    },
  }),
  restaging: recovery.createStateConfig({
    meta: {
      step: 'owe',
      title: 'restaging it, so that it takes its new credentials',
      slice: 'rebind',
      does: ['platform: stage it anew, roll it out and wait until every instance runs'],
      wayBack: 'the droplet of before can be rolled out again; its credentials are gone',
    },
    invoke: {
      id: 'restage',
      src: 'restageApp',
      input: ({ context }) => ({ app: appOf(context), notBefore: notBefore(context) }),
      onDone: [
        {
          guard: 'bindsBeside',
          target: 'unbinding',
          actions: { type: 'keepProof', params: ({ event }) => ({ step: 'restage', proof: event.output }) },
        },
        {
          target: 'weighingOwed',
          actions: { type: 'settlePaid', params: ({ event }) => ({ step: 'restage', proof: event.output }) },
        },
      ],
      onError: BACK,
    },
  }),
  renewingKey: recovery.createStateConfig({
    meta: {
      step: 'owe',
      title: 'making a service key anew',
      slice: 'rebind',
      does: ['platform: delete each service key and make it anew under its name'],
      wayBack: 'none: the old key has no access to the restored data',
    },
    invoke: {
      id: 'renewKey',
      src: 'renewServiceKey',
      input: ({ context }) => ({
        key: paidKey(context) ?? { name: '' },
        to: platformInstance(context),
        notBefore: notBefore(context),
      }),
      onDone: {
        target: 'weighingOwed',
        actions: { type: 'settlePaid', params: ({ event }) => ({ step: 'renew', proof: event.output }) },
      },
      onError: BACK,
    },
  }),
  proving: recovery.createStateConfig({
    meta: { step: 'owe', title: 'looking whether it runs with new credentials', slice: 'rebind' },
    invoke: {
      id: 'proveApp',
      src: 'proveApp',
      input: ({ context }) => ({
        app: appOf(context),
        to: platformInstance(context),
        notBefore: notBefore(context),
      }),
      onDone: {
        target: 'weighingOwed',
        actions: { type: 'settlePaid', params: ({ event }) => ({ step: 'prove', proof: event.output }) },
      },
      onError: BACK,
    },
  }),
};

/** Payment only begins for an application that was found. */
function appOf(context: Parameters<typeof paidApp>[0]) {
  const app = paidApp(context);
  if (app === undefined) throw new Error('no application is being bound at this point');
  return app;
}
