/*
 * The app over five hundred instances of which EVENTS change a second, each as a new answer of the whole
 * fleet. It sends no request. At its end it writes what each frame took to the file FRAMES.
 */

import process from 'node:process';
import { showApp } from '../../src/tui/show-run.ts';
import type { AppPort } from '../../src/view/app/app-port.ts';
import { rowOf } from '../../src/view/app/fleet-row.ts';
import { nothingAsked } from '../../src/view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../src/view/fleet/instance-status.ts';
import type { InstanceStatus } from '../../src/view/fleet/status-schema.ts';
import { loadersWith } from '../tui/fake-loaders.ts';
import { measureFrames } from './frames.ts';

const EVENTS = Number(process.env['EVENTS'] ?? 1_000);
const BEAT_MS = 10;
const INSTANCES = 500;

const writeFrames = measureFrames();

const names = Array.from({ length: INSTANCES }, (_, at) => `orders-${String(at).padStart(3, '0')}`);
const found = names.map(
  (name): InstanceStatus => ({
    ...instanceStatus(nothingAsked({ name, role: 'source', objectives: {} }), new Date()),
    state: 'running',
  }),
);
const never = () => new Promise<never>(() => undefined);

const loaders: AppPort['loaders'] = loadersWith({
  home: async (_, emit) =>
    emit({
      instances: names.map((name) => ({
        name,
        role: 'source',
        isRehearsal: true,
        revision: '62',
        place: 'here',
      })),
      operator: 'robin',
      folder: '/srv/lifeboat',
      config: '/srv/lifeboat.yaml',
      store: '/srv/lifeboat',
    }),
  fleet: (_, emit, signal) =>
    new Promise((resolve) => {
      let at = 0;
      const beat = setInterval(() => {
        for (let event = 0; event < (EVENTS * BEAT_MS) / 1000; event += 1) {
          at += 1;
          const one = found[at % INSTANCES] as InstanceStatus;
          found[at % INSTANCES] = {
            ...one,
            newestBackup: { id: at, ageSeconds: at % 90_000, meetsRpo: at % 7 > 0 },
          };
          emit({
            instances: found.map((one) => rowOf(one)),
            answered: INSTANCES,
            drills: 'the next drill is due in 12 days',
          });
        }
      }, BEAT_MS);
      signal.addEventListener('abort', () => {
        clearInterval(beat);
        resolve();
      });
    }),
  runs: async (_, emit) => emit([]),
});

await showApp(process, () => ({
  loaders,
  start: never,
  startPlan: never,
  resume: never,
  watch: never,
  writeReport: never,
  changeLab: never,
  carryOut: never,
  addKey: never,
  unlock: never,
  shell: async () => undefined,
}));
writeFrames();
process.exit(0);
