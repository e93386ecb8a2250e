import { isRefused } from '../../machines/send-state.ts';
import type { Entry, Json } from '../store/journal.ts';
import { foldSends, isDecision } from '../store/projections/sends.ts';

/** A send that was refused. The same wish is sent again only after a look for it. */
interface RefusedCall {
  readonly intent: string;
  readonly input: { readonly [key: string]: Json };
}

/**
 * Earlier sends of the same wish (verb, purpose and input) that were refused, oldest first, unless something
 * has resolved them since: another send of the verb that landed, or a person's decision. Pure.
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

/** The entries after the last one that resolved what the verb was asked for. */
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
 * What a call is for: intents of one purpose differ in the number at their end only, and those of single
 * commands in all of it.
 */
function wishOf(intent: string, { intent: _, ...input }: RefusedCall['input']): string {
  return JSON.stringify([intent.replace(/-[^-]*$/u, ''), Object.entries(input).sort()]);
}
