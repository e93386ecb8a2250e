import { isRefused } from '../../machines/send-state.ts';
import type { Entry, Json } from '../store/journal.ts';
import { foldSends, isDecision } from '../store/projections/sends.ts';

/** A send that was refused. A call with the same purpose is sent only after looking for this one. */
interface RefusedCall {
  readonly intent: string;
  readonly input: { readonly [key: string]: Json };
}

/**
 * Earlier refused sends with the same purpose (verb, purpose and input), oldest first, unless a later send of
 * the verb landed or a person decided. Pure.
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
  return [...foldSends(entries)].flatMap(([earlier, send]) => {
    const given = begun.get(earlier);
    const isSame =
      given !== undefined && earlier !== intent && wishOf(earlier, given) === wishOf(intent, input);
    return isSame && send.verb === verb && isRefused(send) ? [{ intent: earlier, input: given }] : [];
  });
}

/** The entries after the last one that resolved the verb's purpose. */
function sinceResolved(entries: readonly Entry[], verb: string): readonly Entry[] {
  const last = entries.findLastIndex((entry) => {
    const { type, body } = entry;
    const { sent, verdict, verb: its } = body as Readonly<Record<string, Json>>;
    if (type === 'event') return isDecision(entry);
    if (type === 'call.decided') return its === verb;
    return its === verb && (sent === 'landed' || verdict === 'landed');
  });
  return entries.slice(last + 1);
}

/**
 * The purpose of a call: intents with the same purpose differ only in the number at their end; those of
 * single commands differ entirely.
 */
function wishOf(intent: string, { intent: _, ...input }: RefusedCall['input']): string {
  return JSON.stringify([intent.replace(/-[^-]*$/u, ''), Object.entries(input).sort()]);
}
