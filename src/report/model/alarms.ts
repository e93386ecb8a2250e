import { leftUnbound, unboundWords } from '../../../machines/parts/unfinished.ts';
import { effectOf } from '../../../machines/verbs.ts';
import { counted } from '../../base/format.ts';
import { type Entry, fieldsOf } from '../../store/journal.ts';
import { type Loss, lossInWords } from '../../store/log/log-entries.ts';
import { mayFollowEnd, type RunEntryBody, type WrittenFollowUp } from '../../store/run-entries.ts';
import type { Report } from './model.ts';
import { find, findAll, untilEnd } from './model-rows.ts';
import { challengeOutcome } from './people.ts';

type Alarm = Report['alarms'][number];

/**
 * The alarms at the top of the record: everything in which a run deviated from its purpose, the gravest
 * first. `followUps` are all that the run opened. Entries after the end of the run count as well.
 */
export function alarmsOf(entries: readonly Entry[], followUps: readonly WrittenFollowUp[]): Alarm[] {
  const own = untilEnd(entries);
  return [
    ...bypasses(own),
    ...unapproved(own),
    ...withoutData(own, followUps),
    ...byWord(own, followUps),
    ...afterTheEnd(entries, own),
  ];
}

/** A loss concerns every run of its store: even a later one rests on a journal with a gap. */
export function lossAlarm(loss: Loss): Alarm {
  const title = 'ENTRIES LOST: a part of the journal behind this record is gone';
  return { title, text: lossInWords(loss), at: loss.at, by: loss.by };
}

function bypasses(entries: readonly Entry[]): Alarm[] {
  const weakened = findAll(entries, 'approval.weakened').map(({ entry, body }) => ({
    title: 'BREAK-GLASS: the run went on with less approval than when it began',
    text: `${body.changes.map(({ what }) => what).join(', ')}: ${body.reason}`,
    at: entry.at,
    by: entry.by,
  }));
  const without = findAll(entries, 'approval.bypassed').map(({ entry, body }) => ({
    title: 'BREAK-GLASS: a step went on without its second person',
    text: `${body.order}: ${body.reason}`,
    at: entry.at,
    by: entry.by,
  }));
  return [...without, ...weakened];
}

/** Calls prepared although the newest approval request was not granted. A backup needs no approval. */
function unapproved(entries: readonly Entry[]): Alarm[] {
  const begun = findAll(entries, 'activity.begun').filter(({ body }) => changesKey(body));
  const calls = [...findAll(entries, 'intent.armed'), ...begun].sort((a, b) => a.entry.seq - b.entry.seq);
  return calls.flatMap(({ entry, body: { verb } }): Alarm[] => {
    const before = entries.filter(({ seq }) => seq < entry.seq);
    const asked = findAll(before, 'approval.asked').at(-1)?.body;
    if (asked === undefined || effectOf(verb) === 'backup') return [];
    const { state } = challengeOutcome(before, asked.challenge);
    if (state === 'given' || state === 'bypassed') return [];
    const title = 'NOT APPROVED: a call was prepared whose approval was asked for and not given';
    return [
      { title, text: `${asked.order}: the request was ${OUTCOMES[state]}`, at: entry.at, by: entry.by },
    ];
  });
}

/** Setting a key is repeatable, so nothing is armed for it. Without a key a recovery is only prepared. */
function changesKey({ verb, input }: RunEntryBody<'activity.begun'>): boolean {
  return effectOf(verb) === 'key' && fieldsOf(input)['fingerprint'] !== undefined;
}

const OUTCOMES = {
  asked: 'not answered',
  withdrawn: 'withdrawn',
  replaced: 'replaced by another',
  expired: 'not answered in time',
} as const;

/** Applications that used the data before and were left without it. */
function withoutData(entries: readonly Entry[], followUps: readonly WrittenFollowUp[]): Alarm[] {
  const unbound = leftUnbound(followUps);
  if (unbound.length === 0) return [];
  const said = skips(entries).findLast(({ id }) => unbound.some((one) => one.id === id))?.entry;
  const { at, by } = said ?? find(entries, 'run.closed')?.entry ?? { at: '', by: '' };
  const each = unbound.map(({ subject, closed }) => `${subject}: ${closed?.text ?? ''}`);
  return [{ title: `NOT RECOVERED: ${unboundWords(unbound)}`, text: each.join('; '), at, by }];
}

const SKIPPED = 'SKIPPED: a step was left out';
const DONE_OUTSIDE = 'DONE OUTSIDE: a step counts as done because a person said so';

/** Whether an alarm says that people passed a step. */
export function isPassing({ title }: Pick<Alarm, 'title'>): boolean {
  return title === SKIPPED || title === DONE_OUTSIDE;
}

const WORDS: Readonly<Record<string, string>> = {
  'operator.skip': SKIPPED,
  'operator.skipStep': SKIPPED,
  'operator.markDone': DONE_OUTSIDE,
  'operator.doneOutside': DONE_OUTSIDE,
  'operator.hasBegun': DONE_OUTSIDE,
  'operator.override': 'OVERRIDDEN: a person went on although a check spoke against it',
};

/** Steps that people replaced or bypassed; applications left without the data have their own alarm. */
function byWord(entries: readonly Entry[], followUps: readonly WrittenFollowUp[]): Alarm[] {
  const unbound = new Set(leftUnbound(followUps).map(({ id }) => id));
  // The plan of a rehearsal skips this one by itself; people skip it at most to keep a scratch instance.
  const isOfPlan = fieldsOf(entries[0]?.body)['plan'] !== undefined;
  const isSaid = (id: string) => unbound.has(id) || (isOfPlan && id === 'remove-target');
  const alreadySaid = new Set(skips(entries).flatMap(({ id, answer }) => (isSaid(id) ? [answer] : [])));
  return findAll(entries, 'answer').flatMap(({ entry, body }): Alarm[] => {
    const title = Object.hasOwn(WORDS, body.event) ? WORDS[body.event] : undefined;
    if (title === undefined || alreadySaid.has(entry.seq)) return [];
    return [{ title, text: wordsOf(body), at: entry.at, by: entry.by }];
  });
}

function wordsOf({ label, event, reason }: RunEntryBody<'answer'>): string {
  return reason === undefined || reason === '' ? (label ?? event) : `${label ?? event}: ${reason}`;
}

/** The answers that skipped a follow-up; an answer comes right before its event. */
function skips(
  entries: readonly Entry[],
): { readonly id: string; readonly answer: number; readonly entry: Entry }[] {
  const answers = findAll(entries, 'answer').filter(({ body }) => body.event === 'operator.skip');
  const events = findAll(entries, 'event');
  return answers.flatMap(({ entry }) => {
    const became = events.find((event) => event.entry.seq > entry.seq)?.body.event;
    const id = became?.type === 'operator.skip' ? became['id'] : undefined;
    return typeof id === 'string' ? [{ id, answer: entry.seq, entry }] : [];
  });
}

function afterTheEnd(entries: readonly Entry[], own: readonly Entry[]): Alarm[] {
  const behind = entries.slice(own.length).filter((entry) => !mayFollowEnd(entry));
  const [first] = behind;
  if (first === undefined) return [];
  const types = [...new Set(behind.map(({ type }) => type))].join(', ');
  return [
    {
      title: 'WRITTEN AFTER THE END: the run was over when this was written, so it does not count',
      text: `${counted(behind.length, 'entry', 'entries')} from entry ${first.seq} on: ${types}`,
      at: first.at,
      by: first.by,
    },
  ];
}
