/*
 * The screen of a plan over five hundred instances of which EVENTS change a second; a tenth of them ask. It
 * sends no request, and reads no journal. At its end it writes what each frame took to the file FRAMES.
 */
import process from 'node:process';
import { showPlan } from '../../src/tui/show-plan.ts';
import { planView } from '../../src/view/plan/build-plan-view.ts';
import { childOf, failureOf, foldOf } from '../view/plan/fake-plan.ts';
import { measureFrames } from './frames.ts';

const EVENTS = Number(process.env['EVENTS'] ?? 1_000);
const BEAT_MS = 10;
const INSTANCES = 500;

const children = Array.from({ length: INSTANCES }, (_, at) => childOf(`db-${at + 1}`));
const fold = foldOf({ instances: INSTANCES, data: { waves: INSTANCES } });
const listeners = new Set<() => void>();

const writeFrames = measureFrames();
let at = 0;
setInterval(() => {
  for (let event = 0; event < (EVENTS * BEAT_MS) / 1000; event += 1) {
    at += 1;
    const name = `db-${(at % INSTANCES) + 1}`;
    children[at % INSTANCES] =
      at % 10 === 0 ? failureOf(name) : childOf(name, { where: `restoring, ${at} of the rows` });
    for (const listener of listeners) listener();
  }
}, BEAT_MS);

await showPlan(
  {
    view: () => planView({ ...fold, children, startedMs: Date.now() - 600_000, nowMs: Date.now() }),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    answerPlan: async () => undefined,
    answer: async () => undefined,
    decide: async () => undefined,
    wake: () => undefined,
    newest: async () => [],
    leave: async () => undefined,
    ended: new Promise(() => undefined),
  },
  process,
  undefined,
);
writeFrames();
process.exit(0);
