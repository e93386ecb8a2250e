import { type ProvenBackup, RecoveryCard } from '../../../machines/parts/recovery-data.ts';
import { isInDoubt, type Send } from '../../../machines/send-state.ts';
import type { Entry, Json } from '../../../src/store/journal.ts';
import { readKeyFact } from '../../../src/store/projections/key-epochs.ts';
import { foldSends } from '../../../src/store/projections/sends.ts';

/*
 * What the projections keep, computed slowly from all entries each time. The projections must give the same.
 */

type Body = { readonly [field: string]: Json };
const bodyOf = ({ body }: Entry) => body as Body;

/** The summary of a run from all its entries. */
export function wholeRun(entries: readonly Entry[]) {
  const [first] = entries;
  const last = entries.at(-1);
  if (first?.type !== 'run.started' || last === undefined) return undefined;
  const { runbook, version, instance, target, mode, operator } = bodyOf(first);
  const end = entries.find(({ type }) => type === 'run.closed' || type === 'run.abandoned');
  const closed = end?.type === 'run.closed' ? bodyOf(end) : undefined;
  const state = entries.findLast(({ type }) => type === 'event');
  const title = state && bodyOf(state)['title'];
  const moves = ['run.paused', 'event', 'answer', 'activity.begun', 'run.resumed'];
  const waits = entries.findLast(({ type }) => moves.includes(type))?.type === 'run.paused';
  const words = title === undefined ? 'waits for credentials' : `waits for credentials: ${title}`;
  return {
    ...{ runId: first.stream.slice(4), runbook, version, instance, mode },
    ...(target === undefined ? {} : { target }),
    ...(typeof operator === 'string' && operator !== '' ? { by: operator } : {}),
    startedAt: first.at,
    lastAt: last.at,
    status: end === undefined ? 'open' : closed === undefined ? 'abandoned' : 'closed',
    ...(end === undefined ? {} : { result: closed === undefined ? 'abandoned' : resultOf(closed) }),
    where: closed?.['title'] ?? (end === undefined && waits ? words : (title ?? 'just begun')),
    proven: closed?.['proven'] ?? false,
  };
}

function resultOf({ outcome, proven }: Body): string {
  return outcome === 'stopped' ? 'stopped' : proven === true ? 'proven' : 'not proven';
}

/**
 * Every call in doubt on an instance, from all ledgers and runs: a call moved to the ledger counts only
 * there.
 */
export function wholeDoubts(instance: string, entries: readonly Entry[]) {
  const streams = [...new Set(entries.map(({ stream }) => stream))];
  const of = (stream: string) => entries.filter((entry) => entry.stream === stream);
  const ledger = of(`instance/${instance}`);
  const begun = new Map(
    ledger.flatMap((entry) => (entry.type === 'call.begun' ? [[bodyOf(entry)['call'], bodyOf(entry)]] : [])),
  );
  const own = [...foldSends(ledger)].flatMap(([intent, send]) => {
    const call = begun.get(intent) as Body | undefined;
    if (call === undefined || !isInDoubt(send)) return [];
    return [{ ...seen(intent, send), verb: call['verb'], input: call['input'], instance }];
  });
  const others = streams
    .filter((stream) => stream.startsWith('run/'))
    .flatMap((stream) => doubtsOfRun(stream, of(stream)))
    .filter((doubt) => doubt.instance === instance && !begun.has(`run-${doubt.run.runId}-${doubt.intent}`));
  return [...own, ...others].sort((one, other) => (one.armedAt < other.armedAt ? -1 : 1));
}

function doubtsOfRun(stream: string, entries: readonly Entry[]) {
  const [started] = entries;
  if (started?.type !== 'run.started') return [];
  const { instance, target } = bodyOf(started);
  const inputs = new Map<Json | undefined, Body>();
  for (const entry of entries) {
    const { key, input } = bodyOf(entry);
    if (entry.type === 'activity.begun') inputs.set(key, input as Body);
  }
  const isOpen = !entries.some(({ type }) => type === 'run.closed' || type === 'run.abandoned');
  return [...foldSends(entries)].flatMap(([intent, send]) => {
    if (!isInDoubt(send)) return [];
    const { on, intent: _, ...input } = inputs.get(intent) ?? {};
    const isThere = target !== undefined && (on === 'target' || send.verb === 'performRecovery');
    const run = { runId: stream.slice(4), isOpen };
    return [{ ...seen(intent, send), verb: send.verb, input, run, instance: isThere ? target : instance }];
  });
}

function seen(intent: string, send: Send & { readonly armedAt: string }) {
  const { armedAt, firstArmedAt, baseline, answer, isRefusal, lostAt, unclear } = send;
  return { intent, armedAt, firstArmedAt, baseline, answer, isRefusal, lostAt, unclear };
}

/**
 * What a ledger holds for a recovery: the newest readable recovery card, and each backup by its newest proof.
 */
export function wholeRecord(ledger: readonly Entry[]) {
  const proven = new Map<string, ProvenBackup>();
  for (const entry of ledger.toReversed()) {
    const fact = readKeyFact(entry);
    if (fact?.type !== 'key.proven' || fact.body.verdict === 'fits') continue;
    const { id, backup_id: backupId } = fact.body.backup;
    const name = backupId ?? String(id);
    const { fingerprint } = fact.body;
    const backup = { id, ...(backupId && { backupId }), provenAt: entry.at, fingerprint };
    if (!proven.has(name)) proven.set(name, backup);
  }
  const cards = ledger.flatMap((entry) => {
    const { data } = RecoveryCard().safeParse(
      entry.type === 'card.prepared' ? bodyOf(entry)['card'] : undefined,
    );
    return data === undefined ? [] : [data];
  });
  return { card: cards.at(-1), proven: [...proven.values()].slice(0, 50) };
}

/**
 * The follow-ups of a ledger, in the order in which they were last opened: the id, and how each was closed.
 */
export function wholeFollowUps(ledger: readonly Entry[]) {
  const found = new Map<string, string | undefined>();
  for (const entry of ledger) {
    const body = bodyOf(entry);
    if (entry.type === 'follow-up.opened') {
      const { id } = body['followUp'] as { readonly id: string };
      found.delete(id);
      found.set(id, undefined);
    }
    const [id, how] =
      entry.type === 'follow-up.closed'
        ? [String(body['id']), String((body['closure'] as Body)['how'])]
        : [`retire-key-${body['fingerprint']}`, entry.type === 'key.set' ? 'run' : undefined];
    if (how !== undefined && found.has(id) && found.get(id) === undefined) found.set(id, how);
  }
  return [...found];
}

/** Whether the retirement of a key was opened since it was last in force. */
export function wholeRetiring(ledger: readonly Entry[], fingerprint: string): boolean {
  const last = ledger.findLast((entry) => {
    const { fingerprint: its, followUp } = bodyOf(entry);
    if (entry.type === 'key.set') return its === fingerprint;
    return entry.type === 'follow-up.opened' && (followUp as Body)['id'] === `retire-key-${fingerprint}`;
  });
  return last?.type === 'follow-up.opened';
}
