import type { Entry, Json } from '../store/journal.ts';
import { DECISIONS, foldIntents, type IntentMemory } from '../store/projections/intents.ts';

/** A call that was refused. The same is sent again only after a look for it. */
export interface RefusedCall {
  readonly intent: string;
  readonly input: { readonly [key: string]: Json };
  readonly memory: IntentMemory;
}

/**
 * Calls of the same wish (verb, purpose and input) that were refused before the intent, the oldest first, as
 * far as nothing has resolved them since: another one of the verb that landed, or a person's decision. Pure.
 */
export function refusedBefore(
  entries: readonly Entry[],
  { intent, verb, input }: Pick<RefusedCall, 'intent' | 'input'> & { readonly verb: string },
): readonly RefusedCall[] {
  const begun = new Map<string, RefusedCall['input']>();
  for (const { type, body } of sinceResolved(entries, verb)) {
    const { key, input: given } = body as { readonly key?: Json; readonly input?: RefusedCall['input'] };
    if (type === 'activity.begun' && typeof key === 'string') begun.set(key, given ?? {});
  }
  return [...foldIntents(entries)].flatMap(([earlier, memory]) => {
    const given = begun.get(earlier);
    const isSame =
      given !== undefined && earlier !== intent && wishOf(earlier, given) === wishOf(intent, input);
    if (!isSame || memory.verb !== verb || memory.refused === undefined) return [];
    return memory.landed === undefined && memory.absent !== true
      ? [{ intent: earlier, input: given, memory }]
      : [];
  });
}

/** The entries behind the last one that resolved what the verb was asked for. */
function sinceResolved(entries: readonly Entry[], verb: string): readonly Entry[] {
  const last = entries.findLastIndex(({ type, body }) => {
    const { sent, verdict, verb: its, event } = body as Readonly<Record<string, Json>>;
    if (type === 'event') return DECISIONS.has(String((event as { readonly type?: Json } | undefined)?.type));
    if (type === 'call.decided') return its === verb;
    return its === verb && (sent === 'landed' || verdict === 'landed');
  });
  return entries.slice(last + 1);
}

/**
 * What a call is for: intents of one purpose differ in the number at their end only, and those of single
 * commands in all of it.
 */
function wishOf(intent: string, { intent: _, ...input }: RefusedCall['input']): string {
  return JSON.stringify([intent.replace(/-[^-]*$/u, ''), Object.entries(input).sort()]);
}
