import { type Entry, fieldsOf, type Json, type NewEntry, type StreamName } from '../store/journal.ts';
import type { LostCall } from '../store/log/rollback.ts';
import { foldIntents } from '../store/projections/intents.ts';

/**
 * A call that was armed in a part of the journal that is lost, as entries for the ledger of its instance:
 * from then on it is a call in doubt like any other. Its input and its baseline are those that are still on
 * record, in `entries` of its stream; without a baseline nothing is concluded from what the service shows,
 * and a person decides. Pure.
 */
export function lostCallEntries(
  { stream, instance, verb, intent, at, firstAt }: LostCall,
  entries: readonly Entry[],
): readonly NewEntry[] {
  const call = lostName(stream, intent);
  const mark = { intent: call, verb };
  const known = foldIntents(entries).get(intent);
  const first = known?.firstArmedAt ?? known?.armedAt ?? firstAt ?? at;
  const reason = `armed by ${stream} in a part of the journal that was lost`;
  const written: readonly (readonly [type: string, body: Json])[] = [
    ['call.begun', { call, verb, input: inputIn(entries, intent), reason }],
    ['intent.prepared', { ...mark, baseline: known?.baseline ?? { lost: true } }],
    ['intent.armed', { ...mark, armedAt: at, ...(first !== at && { firstArmedAt: first }) }],
  ];
  return written.map(([type, body]): NewEntry => ({ stream: `instance/${instance}`, type, body }));
}

/**
 * The name of a lost call in the ledger. It is another one than that of a call which a run hands on: a run
 * that goes on gives the same intent out again, and that one is in doubt by itself.
 */
function lostName(stream: StreamName, intent: string): string {
  return stream.startsWith('run/') ? `lost-${stream.slice('run/'.length)}-${intent}` : `lost-${intent}`;
}

function inputIn(entries: readonly Entry[], intent: string): Json {
  const begun = entries.findLast(({ type, body }) => {
    const { key, call } = fieldsOf(body);
    return (type === 'activity.begun' && key === intent) || (type === 'call.begun' && call === intent);
  });
  const { on: _, intent: __, ...input } = fieldsOf(fieldsOf(begun?.body)['input']);
  return input as Json;
}
