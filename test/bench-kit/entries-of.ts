import type { Entry } from '../../src/store/journal.ts';
import type { Machine } from './machine.ts';

/** The states that a run has been led to, in order. */
export function statesOf(entries: readonly Entry[]): string[] {
  return entries.filter(({ type }) => type === 'event').map(({ body }) => (body as { to: string }).to);
}

/** What a verb gave to the machine, the last time. */
export function outputOf(entries: readonly Entry[], activity: string): unknown {
  const bodies = entries
    .filter(({ type }) => type === 'event')
    .map(({ body }) => body as unknown as EventBody);
  return bodies.findLast(({ event }) => event.type === `xstate.done.actor.${activity}`)?.event.output;
}

interface EventBody {
  readonly event: { readonly type: string; readonly output?: unknown };
}

/** Types of the entries of the run, or of the ledger of the instance. */
export function typesOf(entries: readonly Entry[], where: 'run' | 'instance'): string[] {
  return entries.filter(({ stream }) => stream.startsWith(`${where}/`)).map(({ type }) => type);
}

/** The ids of the backups whose proofs the ledgers hold, the oldest proof first. */
export function provenIn(entries: readonly Entry[]): number[] {
  return entries
    .filter(({ type }) => type === 'key.proven')
    .map(({ body }) => (body as unknown as { backup: { id: number } }).backup.id);
}

/** All that is on record on a machine; nothing where no journal was ever begun. */
export function entriesIn(machine: Pick<Machine, 'entries'>): Promise<readonly Entry[]> {
  return machine.entries().catch((thrown: { code?: string }) => {
    if (thrown.code === 'journal.none') return [];
    throw thrown;
  });
}
