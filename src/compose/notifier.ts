import { show } from '../base/text.ts';
import type { NotifyConfig } from '../config/loaded.ts';
import { NotifyEvent } from '../config/schema.ts';
import type { Delivery, Outbox } from '../notify/deliver.ts';
import type { Notice } from '../notify/notice.ts';
import type { Journal } from '../store/journal.ts';

/** Delivers notifications in the background. */
export interface Notifier {
  /** Delivers the rest within three seconds; the next command continues. Returns failures. Never rejects. */
  finish(): Promise<readonly string[]>;
}

/** Milliseconds between looks for notices, and for the end of a command. */
const LOOK_EVERY = 5_000;
const LAST_MS = 3_000;
const RECORD_MS = 1_000;

/** An outbox over a journal; `more` gives notices beside those of the runs. */
export async function openOutbox(
  journal: Journal,
  targets: readonly NotifyConfig[],
  more: () => readonly Notice[] = () => [],
): Promise<Outbox> {
  const { noticesOfRuns } = await import('./read-notices.ts');
  const { readTargets } = await import('../store/projections/outbox.ts');
  const events = new Set(targets.flatMap(({ on }) => on ?? NotifyEvent.options));
  const names = new Set(targets.map(({ name }) => name));
  const notices = async (all: boolean) => {
    const begun = (await readTargets(journal)).filter(({ name }) => names.has(name));
    if (begun.length === 0) return [];
    const from = Math.min(...begun.map(({ index }) => index));
    return [...(await noticesOfRuns(journal, { from, events, all })), ...more()];
  };
  return { journal, targets, notices };
}

/**
 * Begins to deliver in the background. When it resolves, each target is on record, and no notice is missed
 * from then on. A failure stops nothing else.
 */
export async function startNotifier(journal: Journal, targets: readonly NotifyConfig[]): Promise<Notifier> {
  const { beginTargets, deliver } = await import('../notify/deliver.ts');
  const outbox = await openOutbox(journal, targets);
  const problems = new Map<string, string>();
  const leaving = new AbortController();
  let turn: Promise<void> = Promise.resolve();
  const attempt = async (act: () => Promise<readonly Delivery[]>) => {
    try {
      for (const { target, outcome, why, status } of await act())
        if (outcome === 'delivered') problems.delete(target);
        else problems.set(target, `${target} did not take a notification: ${why ?? `status ${status}`}`);
    } catch (thrown) {
      problems.set('', `notifications: ${show(thrown instanceof Error ? thrown.message : 'not read', 200)}`);
    }
  };
  const round = () => {
    turn = turn.then(() => attempt(() => deliver(outbox, leaving.signal)));
    return turn;
  };
  await attempt(async () => {
    await beginTargets(outbox);
    return [];
  });
  void round();
  let isUnderWay = false;
  const timer = setInterval(() => {
    if (isUnderWay) return;
    isUnderWay = true;
    void round().finally(() => {
      isUnderWay = false;
    });
  }, LOOK_EVERY).unref();
  return {
    finish: async () => {
      clearInterval(timer);
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const timers = [
        setTimeout(() => leaving.abort(), LAST_MS),
        // A store that cannot be reached is not waited for either.
        setTimeout(resolve, LAST_MS + RECORD_MS),
      ];
      await Promise.race([round(), over]);
      for (const one of timers) clearTimeout(one);
      return [...problems.values()];
    },
  };
}
