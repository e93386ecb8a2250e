import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Case } from './cases.ts';
import type { Finding } from './trial.ts';

/** A case for another process: a flow is known by its name there. */
export type SentCase = Omit<Case, 'flow'> & { readonly flow: string };
export type Heard =
  | { readonly wants: true }
  | { readonly id: number; readonly finding: Omit<Finding, 'case'> };

/**
 * Tries cases in this many processes, each of which takes another as soon as it has time; calls back with
 * each finding.
 */
export async function tryInCrew(
  cases: readonly Case[],
  size: number,
  found: (finding: Finding) => void,
): Promise<void> {
  const queue = [...cases.entries()];
  const work = async () => {
    const child = fork(new URL('./worker.ts', import.meta.url), { serialization: 'advanced' });
    const under = new Map<number, Case>();
    child.on('message', (heard: Heard) => {
      if ('wants' in heard) return give(child, queue.shift(), under);
      const one = under.get(heard.id);
      under.delete(heard.id);
      if (one !== undefined) found({ ...heard.finding, case: one });
    });
    await once(child, 'exit');
    for (const one of under.values()) found(diedAt(one));
  };
  await Promise.all(Array.from({ length: Math.min(size, cases.length) }, work));
}

function give(child: ChildProcess, next: [number, Case] | undefined, under: Map<number, Case>): void {
  if (!child.connected) return;
  if (next === undefined) return void child.send('no more');
  const [id, one] = next;
  under.set(id, one);
  const sent: SentCase = { ...one, flow: `${one.flow.name} ${one.flow.revision}` };
  child.send({ id, sent });
}

/** The process has gone with it. */
function diedAt(one: Case): Finding {
  return {
    case: one,
    verdict: 'missed',
    exitCode: -1,
    where: 'nowhere',
    resumed: 'never',
    crashed: 'the process that ran it has ended',
    hung: false,
    lost: true,
    doubled: [],
    claims: [],
    strayed: false,
  };
}
