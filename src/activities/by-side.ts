import type { Verb } from '../../machines/verbs.ts';
import type {
  Activities,
  ActivityContext,
  ActivityResult,
  AnyActivity,
  ChangeContext,
  LedgerFact,
  OnceActivity,
} from './activity.ts';

type Run = (input: unknown, context: ChangeContext) => Promise<ActivityResult<unknown>>;
type Once = OnceActivity<{ readonly intent: string }, unknown>;

/**
 * Activities for both instances of a run: an input with `on: 'target'` goes to `there`, any other to `here`.
 */
export function bySide(here: Activities, there: Activities, target: string): Activities {
  const twins = Object.entries<AnyActivity>(here).map(([verb, activity]) => [
    verb,
    oneBySide(activity, there[verb as Verb], target),
  ]);
  return Object.fromEntries(twins) as Activities;
}

function oneBySide(here: AnyActivity, there: AnyActivity, target: string): AnyActivity {
  const isThere = (input: unknown) =>
    typeof input === 'object' && input !== null && (input as { readonly on?: unknown }).on === 'target';
  const contextAt = <C extends ActivityContext>(input: unknown, context: C): C =>
    isThere(input) ? { ...context, instance: target } : context;
  if (here.kind === 'once') {
    const sideOf = (input: unknown) => (isThere(input) ? there : here) as unknown as Once;
    const once: Once = {
      kind: 'once',
      prepare: (input, context) => sideOf(input).prepare(input, contextAt(input, context)),
      send: (input, context, baseline) => sideOf(input).send(input, contextAt(input, context), baseline),
      judge: (input, memory, context) => sideOf(input).judge(input, memory, contextAt(input, context)),
    };
    return once as unknown as AnyActivity;
  }
  const run: Run = async (input, context) => {
    const side = (isThere(input) ? there : here) as unknown as { readonly run: Run };
    if (!isThere(input)) return side.run(input, context);
    const ofTarget = (facts: readonly LedgerFact[]) => facts.map((fact) => ({ instance: target, ...fact }));
    const announce = (facts: readonly LedgerFact[]) => context.announce(ofTarget(facts));
    const result = await side.run(input, { ...context, instance: target, announce });
    return result.ledger === undefined ? result : { ...result, ledger: ofTarget(result.ledger) };
  };
  return { kind: here.kind, run } as unknown as AnyActivity;
}
