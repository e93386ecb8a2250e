import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { blocksOtherChanges } from '../../../src/runner/assert-not-in-doubt.ts';
import type { Entry, JournalReader, Json, NewEntry, StreamName } from '../../../src/store/journal.ts';
import { createFold, PROJECTIONS, selectRows } from '../../../src/store/projected.ts';
import {
  type Doubt,
  doubtsOfStream,
  handedName,
  type OpenCall,
} from '../../../src/store/projections/pending-calls.ts';

/** Entries numbered as a store numbers them, one second after the other. */
export function journalOf(written: readonly NewEntry[]): readonly Entry[] {
  const seqs = new Map<string, number>();
  return written.map((entry, index) => {
    const seq = (seqs.get(entry.stream) ?? 0) + 1;
    seqs.set(entry.stream, seq);
    const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
    return { ...entry, index, seq, at, by: 'ada', hash: '' };
  });
}

/** A store that holds these entries, counting queries and returned entries. */
export function readerOf(entries: readonly Entry[]) {
  const folds = new Map(PROJECTIONS.map((projection) => [projection.name, createFold(projection)]));
  for (const entry of entries) for (const fold of folds.values()) fold.take(entry);
  const asked = { rows: 0, entries: 0 };
  const journal: Pick<JournalReader, 'rows' | 'read' | 'head'> = {
    async rows(name, query) {
      const rows = selectRows(folds.get(name)?.rows() ?? [], query);
      asked.rows += rows.length;
      return rows;
    },
    async read(stream, from = 1) {
      const found = entries.filter((entry) => entry.stream === stream && entry.seq >= from);
      asked.entries += found.length;
      return found;
    },
    async head(stream) {
      const last = entries.findLast((entry) => entry.stream === stream);
      return { stream, seq: last?.seq ?? 0, hash: last?.hash ?? '' };
    },
  };
  return { ...journal, asked };
}

const HISTORIES = join(import.meta.dirname, '../../histories');

/** Every recorded run. */
export function recorded(): readonly (readonly Entry[])[] {
  return readdirSync(HISTORIES, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.jsonl'))
    .sort()
    .map((path) => {
      const lines = readFileSync(join(HISTORIES, path), 'utf8').trimEnd().split('\n').slice(0, -1);
      const entries = lines.map((line) => JSON.parse(line) as Entry);
      return entries.filter(({ stream }) => stream?.startsWith('run/'));
    });
}

type Step = readonly [who: number, what: number];

/**
 * What several runs and single commands may write, interleaved: each step continues from the state of its
 * stream.
 */
export const runEntries = fc
  .array(fc.noBias(fc.tuple(fc.nat(4), fc.nat(99))), { maxLength: 80, size: 'max' })
  .map((steps) => journalOf(written(steps)));

const FAILURE = { code: 'service.timeout', shortMessage: 'no answer', hints: [], evidence: {} };
const DENIED = { ...FAILURE, code: 'credentials.refused' };
const VERBS = ['restoreBackup', 'createBackup', 'performRecovery'];

interface Writer {
  readonly stream: StreamName;
  readonly target?: string;
  calls: number;
  phase: 'idle' | 'begun' | 'prepared' | 'armed' | 'refused' | 'doubt' | 'over';
  verb: string;
}

function written(steps: readonly Step[]): readonly NewEntry[] {
  const entries: NewEntry[] = [];
  const fresh = { calls: 0, phase: 'idle', verb: '' } as const;
  const writers: Writer[] = [
    { stream: 'run/R1', ...fresh },
    { stream: 'run/R2', target: 'dr', ...fresh },
    { stream: 'run/R3', target: 'dr', ...fresh },
    { stream: 'instance/orders', ...fresh },
    { stream: 'instance/dr', ...fresh },
  ];
  for (const { stream, target } of writers.slice(0, 3)) {
    const body = { runbook: 'x', version: '1', instance: 'orders', ...(target && { target }), mode: 'LIVE' };
    entries.push({ stream, type: 'run.started', body });
  }
  for (const [who, what] of steps) {
    const writer = writers[who];
    if (writer !== undefined && writer.phase !== 'over') entries.push(...write(writer, what, entries));
  }
  return entries;
}

/** The next entries of one stream, by the rules of the runner. */
function write(writer: Writer, what: number, before: readonly NewEntry[]): readonly NewEntry[] {
  const { stream, phase } = writer;
  const isRun = stream.startsWith('run/');
  const id = `call-${writer.calls}`;
  const mark = { intent: id, verb: writer.verb };
  const say = (next: Writer['phase'], ...facts: readonly (readonly [type: string, body: Json])[]) => {
    writer.phase = next;
    return facts.map(([type, body]): NewEntry => ({ stream, type, body }));
  };
  const ended = isRun ? [] : [['call.ended', { call: id, verb: writer.verb }] as const];
  const begin = (): readonly NewEntry[] => {
    writer.calls += 1;
    writer.verb = VERBS[what % 3] ?? '';
    const [call, { verb }] = [`call-${writer.calls}`, writer];
    const input = { backup: what % 4, intent: call, ...(what % 5 === 0 ? { on: 'target' } : {}) };
    const begun = ['activity.begun', { activity: 'a', verb, kind: 'once', key: call, input }] as const;
    return isRun
      ? say('begun', begun)
      : say('begun', ['call.begun', { call, verb, input: { backup: what % 4 } }], begun);
  };
  if (isRun && what > 95) return end(writer, what % 2 === 0, before);
  if (isRun && what > 88) return say(phase, ['event', { event: { type: 'operator.lookAgain' }, to: 'x' }]);
  const [left] = what > 75 && !isRun ? doubtsOfStream(stream, journalOf(before)) : [];
  if (left !== undefined && left.intent !== id) return foundOut(stream, left, what);
  switch (phase) {
    case 'idle':
      return begin();
    case 'begun':
      return what < 10 ? begin() : say('prepared', ['intent.prepared', { ...mark, baseline: [what] }]);
    case 'prepared':
    case 'refused':
      if (what < 15) return say('idle', ...ended);
      return say('armed', ['intent.armed', mark]);
    case 'armed': {
      if (what < 20) return begin();
      if (what < 40)
        return say('idle', ['intent.outcome', { ...mark, sent: 'landed', output: { id: what } }], ...ended);
      const absent = { ...mark, sent: 'absent', failure: what % 3 === 0 ? DENIED : FAILURE };
      if (what < 50) return say('idle', ['intent.outcome', absent], ...ended);
      if (what < 65) return say('refused', ['intent.outcome', { ...absent, refused: true }]);
      return say('doubt', ['intent.outcome', { ...mark, sent: 'unknown', failure: FAILURE }]);
    }
    default: {
      if (what < 15) return begin();
      if (what < 30)
        return say('idle', ['intent.judged', { ...mark, verdict: 'landed', output: {} }], ...ended);
      if (what < 45) return say('idle', ['intent.judged', { ...mark, verdict: 'absent' }], ...ended);
      if (what < 70)
        return say('doubt', ['intent.judged', { ...mark, verdict: 'ambiguous', failure: FAILURE }], ...ended);
      return isRun
        ? say('idle', ['event', { event: { type: 'operator.sendAgain' }, to: 'x' }])
        : say('idle', ['call.decided', { call: id, verb: writer.verb, became: null }]);
    }
  }
}

/** A finding about a call that a ledger has in doubt. */
function foundOut(stream: StreamName, { intent, verb }: OpenCall, what: number): readonly NewEntry[] {
  if (what > 90) return [{ stream, type: 'call.decided', body: { call: intent, verb, became: null } }];
  const verdict = what > 82 ? 'landed' : 'absent';
  return [{ stream, type: 'intent.judged', body: { intent, verb, verdict, output: {} } }];
}

/**
 * A run ends. Earlier versions moved its calls in doubt to the ledgers in the same append; with `forgets`
 * they stay with the run.
 */
function end(writer: Writer, forgets: boolean, before: readonly NewEntry[]): readonly NewEntry[] {
  writer.phase = 'over';
  const { stream } = writer;
  const closed: NewEntry = {
    stream,
    type: forgets ? 'run.abandoned' : 'run.closed',
    body: { title: 'over' },
  };
  const entries = journalOf([...before, closed]).filter((entry) => entry.stream === stream);
  return forgets
    ? [closed]
    : [closed, ...moveToLedger(doubtsOfStream(stream, entries).filter(blocksOtherChanges))];
}

export const KEYS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'];
const OPENED = 'follow-up.opened';

/** What runs and people may write into two ledgers about keys, recovery cards and follow-ups. */
export const ledgerEntries = fc
  .array(fc.noBias(fc.tuple(fc.nat(1), fc.nat(13), fc.nat(2), fc.nat(99))), { maxLength: 60, size: 'max' })
  .map((facts) =>
    journalOf(
      facts.map(([whose, what, which, number]): NewEntry => {
        const [type, body] = ledgerFact(what, KEYS[which] ?? '', number);
        return { stream: whose === 0 ? 'instance/orders' : 'instance/dr', type, body };
      }),
    ),
  );

function ledgerFact(what: number, fingerprint: string, number: number): readonly [type: string, body: Json] {
  const key = { fingerprint, run: 'R1' };
  const backup = { id: number % 60, ...(number % 3 === 0 ? { backup_id: `g-${number}` } : {}) };
  const follow = { id: `rebind-${number % 4}`, kind: 'rebind', subject: 'shop', what: 'bind shop' };
  const retire = { ...follow, id: `retire-key-${fingerprint}`, kind: 'retire-key', subject: fingerprint };
  const closure = { how: number % 2 === 0 ? 'hand' : 'skipped', text: 'as I said' };
  const facts: readonly (readonly [type: string, body: Json])[] = [
    ['key.pending', { ...key, origin: 'generated', store: 'vault', length: 43 }],
    ['key.sent', { ...key, ...(number % 2 === 0 ? { previous: KEYS[number % 3] ?? '' } : {}) }],
    ['key.refused', key],
    ['key.set', { ...key, answer: 'accepted' }],
    ['key.uncertain', key],
    [
      'key.proven',
      {
        ...key,
        backup,
        verdict: number % 5 === 0 ? 'fits' : 'readable',
        cipherSha256: '0',
        negative: 'refused',
      },
    ],
    ['key.refuted', { ...key, backup }],
    ['key.added', number % 2 === 0 ? { fingerprint } : { fingerprint: 9 }],
    [
      'card.prepared',
      {
        card: { backupGuid: `g${number}`, preparedAt: 'now', crossCheck: number % 2 === 0 ? 'agrees' : 'x' },
      },
    ],
    [OPENED, { followUp: follow, run: 'R1' }],
    [OPENED, { followUp: retire }],
    ['follow-up.closed', { id: follow.id, closure }],
    ['follow-up.closed', { id: retire.id, closure }],
    [OPENED, { followUp: { id: follow.id, kind: 'polish' } }],
  ];
  return facts[what] ?? ['recovery.done', {}];
}

/** The calls of a run that is over, as earlier versions copied them into the ledger of the instance. */
function moveToLedger(doubts: readonly Doubt[]): readonly NewEntry[] {
  return doubts.flatMap((doubt) => {
    const { instance, run, intent, verb, input, baseline, armedAt, firstArmedAt, answer, isRefusal, lostAt } =
      doubt;
    const call = handedName(run?.runId, intent);
    const mark = { intent: call, verb };
    const outcome = {
      ...mark,
      sent: 'unknown',
      ...(isRefusal && { refused: true }),
      failure: answer as unknown as Json,
      ...(lostAt && { lostAt }),
    };
    const judged = { ...mark, verdict: 'ambiguous', failure: doubt.unclear as unknown as Json };
    const written: readonly (readonly [type: string, body: Json])[] = [
      ['call.begun', { call, verb, input, reason: `left in doubt by run ${run?.runId}` }],
      ['intent.prepared', { ...mark, baseline }],
      ['intent.armed', { ...mark, armedAt, ...(firstArmedAt && { firstArmedAt }) }],
      ...(answer === undefined ? [] : [['intent.outcome', outcome] as const]),
      ...(doubt.unclear === undefined ? [] : [['intent.judged', judged] as const]),
    ];
    return written.map(([type, body]): NewEntry => ({ stream: `instance/${instance}`, type, body }));
  });
}
