import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as rest } from 'node:timers/promises';
import { makeCertificates } from './certificates.ts';
import type { Heard, SentCase } from './crew.ts';
import { flowsNamed } from './flows.ts';
import { tryCase } from './trial.ts';

/*
 * One process of the crew: asks for a case, tries it beside the others, and asks for the next as soon as it
 * is not busy. Most of a case is waiting; but what is late because this process is busy would look like a
 * service that does not answer.
 */

/** The maximum at once, and no further one while more than this part of the time is work. */
const MAX = Number(process.env['FAULTS_AT_ONCE'] ?? 24);
const BUSY = 0.75;
const LOOK_MS = 2_000;

const certificates = makeCertificates();
const tell = (heard: Heard) => process.send?.(heard);
let under = 0;
let asked = false;
let isOver = false;

process.on('message', (said: 'no more' | { readonly id: number; readonly sent: SentCase }) => {
  asked = false;
  if (said === 'no more') isOver = true;
  else void tryHere(said.id, said.sent);
});
process.on('disconnect', () => process.exit(1));

for (let before = performance.eventLoopUtilization(); !isOver || under > 0; ) {
  await rest(LOOK_MS / 4);
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, before);
  if (utilization < BUSY && under < MAX && !asked && !isOver) {
    asked = true;
    tell({ wants: true });
  }
  before = now;
}
certificates.remove();
process.exit(0);

async function tryHere(id: number, { flow: name, ...sent }: SentCase): Promise<void> {
  under += 1;
  const [flow] = flowsNamed(name);
  if (flow === undefined) throw new Error(`there is no flow ${name}`);
  const { case: _, ...finding } = await tryCase({ ...sent, flow }, certificates);
  tell({ id, finding });
  under -= 1;
}
