import { verbTo } from '../../../machines/parts/verb-words.ts';
import { formatSeconds } from '../../base/format.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { type RunEntry, readRunEntry } from '../../store/run-entries.ts';
import type { Mark } from './model-rows.ts';

/**
 * The moments that a reader of the run looks for: decisions, calls, doubts, trouble, and who carried it on.
 */
export function marksOf(entries: readonly Entry[]): Mark[] {
  const doubted = new Set<string>();
  return entries.flatMap((entry) => {
    const known = readRunEntry(entry);
    if (known === undefined) return [];
    if (isDoubt(known)) doubted.add(known.body.intent);
    const said = markOf(known, doubted);
    return said === undefined ? [] : [{ at: entry.at, ...said }];
  });
}

/** Whether it is not known what became of a call. An answer that only left out the id was an answer. */
function isDoubt(entry: RunEntry): entry is Extract<RunEntry, { type: 'intent.outcome' }> {
  if (entry.type !== 'intent.outcome') return false;
  return entry.body.sent === 'unknown' && entry.body.failure?.code !== 'service.no-id';
}

function markOf(entry: RunEntry, doubted: ReadonlySet<string>): Omit<Mark, 'at'> | undefined {
  switch (entry.type) {
    case 'answer': {
      const { label, event, reason } = entry.body;
      return { kind: 'decision', text: withReason(label ?? event, reason) };
    }
    case 'intent.armed':
      return { kind: 'armed', text: `sending the request to ${verbTo(entry.body.verb)}` };
    case 'intent.outcome': {
      if (!isDoubt(entry)) return undefined;
      const { failure, verb, refused } = entry.body;
      const answer =
        refused === true
          ? 'it was refused, but the service shows something that it may have caused'
          : failure?.code === 'service.old-id'
            ? 'the answer names nothing new'
            : 'the answer was lost';
      return { kind: 'doubt', text: withReason(`${verbTo(verb)}: ${answer}`, failure?.shortMessage) };
    }
    case 'intent.judged': {
      const { intent, verb, verdict } = entry.body;
      // Where no answer was lost, looking for the id is a part of the call; only an unclear result is worth a
      // word.
      if (!doubted.has(intent) && verdict === 'landed') return undefined;
      return { kind: 'doubt', text: `${verbTo(verb)}: what the service shows: ${JUDGED[verdict]}` };
    }
    case 'event': {
      const error = fieldsOf(entry.body.event['error'])['shortMessage'];
      return typeof error === 'string' ? { kind: 'trouble', text: error } : undefined;
    }
    case 'run.paused':
      return { kind: 'trouble', text: `paused for new credentials: ${entry.body.failure.shortMessage}` };
    case 'activity.overdue': {
      const { verb, seconds, limitSeconds } = entry.body;
      const text = `${verbTo(verb)}: overdue, ${formatSeconds(seconds)}, expected ${formatSeconds(limitSeconds)}`;
      return { kind: 'trouble', text };
    }
    case 'run.resumed':
      return { kind: 'resumed', text: `carried on by process ${entry.body.pid}` };
    case 'approval.asked':
      return { kind: 'approval', text: `approval asked for: ${entry.body.order}` };
    case 'approval.given':
      return { kind: 'approval', text: `approved by ${entry.body.approver}` };
    case 'approval.withdrawn':
      return { kind: 'approval', text: withReason(`withdrawn by ${entry.body.approver}`, entry.body.reason) };
    case 'approval.bypassed':
      return { kind: 'break-glass', text: withReason(`BREAK-GLASS: ${entry.body.order}`, entry.body.reason) };
    case 'approval.weakened':
      return {
        kind: 'break-glass',
        text: withReason('BREAK-GLASS: less approval than at the beginning', entry.body.reason),
      };
    default:
      return undefined;
  }
}

const JUDGED = {
  landed: 'it happened',
  absent: 'it did not happen',
  ambiguous: 'it may have happened',
} as const;

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined || reason === '' ? text : `${text}: ${reason}`;
}
