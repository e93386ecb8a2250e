import { fromPromise, type PromiseActorLogic } from 'xstate';
import { type InputOf, type OutputOf, VERBS, type Verb } from './verbs.ts';

/** The verbs as the actors of every machine. The runner performs them: a machine that is run by anything else fails loudly. */
export const actors = Object.fromEntries(
  Object.keys(VERBS).map((verb) => [
    verb,
    fromPromise(() => {
      throw new Error(`the runner performs ${verb}`);
    }),
  ]),
) as unknown as { readonly [V in Verb]: PromiseActorLogic<OutputOf<V>, InputOf<V>> };
