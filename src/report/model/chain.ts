import { type Entry, fieldsOf } from '../../store/journal.ts';
import { anchorOf } from '../../store/log/anchor.ts';
import { claimOf } from '../../store/log/checkpoint.ts';
import { entrySentences } from '../../store/sentence.ts';
import type { Report } from './model.ts';
import { type Change, findAll, findLast, type Line } from './model-rows.ts';

export interface RecordProof {
  readonly generatedAt: Date;
  /** The signed head of the store when the report is made (log/checkpoint.ts). */
  readonly note?: string;
  /** Files that belong to the evidence, such as the exported journal, with their SHA-256 in hex. */
  readonly files?: readonly { readonly name: string; readonly sha256: string }[];
}

export function linesOf(entries: readonly Entry[]): Line[] {
  const say = entrySentences();
  return entries.map((entry) => ({
    at: entry.at,
    seq: entry.seq,
    by: entry.by,
    text: say(entry).text,
  }));
}

/** The last entry, the signed head of the store, the files, and how to verify them. */
export function evidenceOf(entries: readonly Entry[], { note, files = [] }: RecordProof): Report['evidence'] {
  const last = entries.at(-1);
  const run = last?.stream.replace(/^run\//u, '') ?? '';
  const transcript = findLast(entries, 'transcript.kept')?.body;
  const claim = claimOf(note);
  return {
    head: last?.hash,
    anchor: claim && anchorOf(claim),
    signedHead: note?.trimEnd().split('\n'),
    files: [...files],
    transcript,
    bundle: `lifeboat audit export ${run}`.trim(),
    verify: `lifeboat audit verify ${run}`.trim(),
  };
}

/**
 * Everything that changed something: calls that may happen only once (when armed, how the send ended, what
 * was found later) and repeatable steps, such as setting a key, with their answers.
 */
export function changesOf(entries: readonly Entry[]): Change[] {
  return [...onceRows(entries), ...repeatableRows(entries)]
    .sort((a, b) => a.seq - b.seq)
    .map(({ seq: _, ...change }) => change);
}

type Row = Change & { readonly seq: number };

function onceRows(entries: readonly Entry[]): Row[] {
  const arms = findAll(entries, 'intent.armed');
  return arms.map(({ entry, body: { intent, verb } }) => {
    // A throttled call is armed again: each time has its own end.
    const next = arms.find((arm) => arm.body.intent === intent && arm.entry.seq > entry.seq);
    const until = next?.entry.seq ?? Number.POSITIVE_INFINITY;
    const isItsOwn = (one: { readonly entry: Entry; readonly body: { readonly intent: string } }) =>
      one.body.intent === intent && one.entry.seq > entry.seq && one.entry.seq < until;
    const sent = findAll(entries, 'intent.outcome').findLast(isItsOwn)?.body;
    const judged = findAll(entries, 'intent.judged').findLast(isItsOwn)?.body;
    return {
      seq: entry.seq,
      at: entry.at,
      step: verb,
      intent,
      subject: '',
      answer: sent?.sent ?? 'never written',
      found: judged?.verdict ?? '',
    };
  });
}

function repeatableRows(entries: readonly Entry[]): Row[] {
  return findAll(entries, 'activity.begun')
    .filter(({ body }) => body.kind === 'repeatable' || body.kind === 'attended')
    .map(({ entry, body: { activity, verb, input } }) => ({
      seq: entry.seq,
      at: entry.at,
      step: verb,
      subject: subjectOf(input),
      answer: answerOf(entries, entry.seq, activity),
      found: '',
    }));
}

function subjectOf(input: unknown): string {
  const { app, key } = fieldsOf(input);
  const { key: appKey, name } = { ...fieldsOf(key), ...fieldsOf(app) };
  const subject = appKey ?? name;
  return typeof subject === 'string' ? subject : '';
}

/** How an activity that began at `seq` ended: its own description, the failure, or nothing on record. */
function answerOf(entries: readonly Entry[], seq: number, activity: string): string {
  const ended = findAll(entries, 'event').find(
    ({ entry, body }) => entry.seq > seq && body.event.type.endsWith(`.actor.${activity}`),
  )?.body.event;
  if (ended === undefined) return 'never written';
  const fields = fieldsOf(ended['output'] ?? ended['error']);
  const word = fields['answer'] ?? fields['shortMessage'];
  return typeof word === 'string' ? word : 'done';
}
