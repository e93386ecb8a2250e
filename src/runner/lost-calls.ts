import { type Entry, fieldsOf, type Json, type NewEntry, type StreamName } from '../store/journal.ts';
import type { LostCall } from '../store/log/rollback.ts';
import { foldSends } from '../store/projections/sends.ts';

/**
 * A call that was armed in a lost part of the journal, as ledger entries that make it an ordinary call in
 * doubt. Its input and baseline come from what remains in `entries`. Without a baseline, what the service
 * shows proves nothing, and a person decides. Pure.
 */
export function lostCallEntries(
  { stream, instance, verb, intent, at, firstAt }: LostCall,
  entries: readonly Entry[],
): readonly NewEntry[] {
  const call = lostName(stream, intent);
  const mark = { intent: call, verb };
  const known = foldSends(entries).get(intent);
  const first = known?.firstArmedAt ?? known?.armedAt ?? firstAt ?? at;
  const reason = `armed by ${stream} in a part of the journal that was lost`;
  const written: readonly (readonly [type: string, body: Json])[] = [
    ['call.begun', { call, verb, input: inputIn(entries, intent), reason }],
    ['intent.prepared', { ...mark, baseline: (known?.baseline as Json) ?? { lost: true } }],
    ['intent.armed', { ...mark, armedAt: at, ...(first !== at && { firstArmedAt: first }) }],
  ];
  return written.map(([type, body]): NewEntry => ({ stream: `instance/${instance}`, type, body }));
}

/**
 * Differs from the name of a call decided after its run's end: a resumed run uses the same intent again, and
 * that call can be in doubt too.
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
