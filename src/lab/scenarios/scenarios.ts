import { EXIT, LifeboatError } from '../../base/errors.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import { Scenario, type ScenarioInput } from './scenario.ts';

/** The scenarios that come with the lab, by ascending trouble. */
export const SCENARIOS: readonly Scenario[] = (
  [
    { name: 'calm', summary: 'Nothing goes wrong: learn the steps.' },
    {
      name: 'slow-queue',
      summary: 'One worker waits 20 seconds before each task: a slow task has not failed; do not ask twice.',
      settings: { workers: 1, taskDelay: '20s' },
    },
    {
      name: 'stuck-task',
      summary:
        'The first task waits until the faults are cleared: know when to stop waiting, and whom to call.',
      faults: [{ effect: { kind: 'task', outcome: 'queued' } }],
    },
    {
      name: 'skewed-clock',
      summary: "The service's clock is seven minutes behind: do not compare the times of two clocks.",
      settings: { clockSkew: '-7m' },
    },
    {
      name: 'disk-pressure',
      summary:
        'The disk of instance orders is 79 % full; the parachute opens at 80 %: read the metrics before a restore.',
      timeline: [{ do: 'fill-disk', instance: 'orders', percent: 79 }],
    },
    {
      name: 'failing-task',
      summary: 'The first task fails after its call was accepted: accepted does not mean done.',
      faults: [{ effect: { kind: 'task', outcome: 'failed' } }],
    },
    {
      name: 'flaky-router',
      summary: 'Some calls are lost or answered 502 or 504: a router does not know what the service did.',
      faults: [
        {
          times: 'always',
          probability: 0.15,
          seed: 61,
          effect: { kind: 'answer', status: 502, when: 'before' },
        },
        {
          times: 'always',
          probability: 0.15,
          seed: 62,
          effect: { kind: 'answer', status: 504, when: 'after' },
        },
        { times: 'always', probability: 0.1, seed: 63, effect: { kind: 'refuse' } },
      ],
    },
    {
      name: 'half-answers',
      summary: 'Some answers to GETs are cut or garbled: ask again for what cannot be read, do not guess.',
      faults: [
        {
          method: 'GET',
          times: 'always',
          probability: 0.2,
          seed: 1,
          effect: { kind: 'garble', body: 'truncated' },
        },
        {
          method: 'GET',
          path: '/backups',
          times: 'always',
          probability: 0.2,
          seed: 2,
          effect: { kind: 'garble', body: 'enums' },
        },
      ],
    },
    {
      name: 'cut-download',
      summary: 'The first two downloads are slow and end early: half a backup must not pass for a whole one.',
      faults: [
        { path: '/backups/:id/download', times: 2, effect: { kind: 'slow', bytesPerSecond: 1_000_000 } },
        { path: '/backups/:id/download', times: 2, effect: { kind: 'abort', ms: 3_000 } },
      ],
    },
    {
      name: 'lost-answers',
      summary: 'Every POST is carried out, but its answer is lost: look before you ask again.',
      faults: [{ method: 'POST', times: 'always', effect: { kind: 'drop', when: 'after' } }],
    },
    {
      name: 'colleague',
      summary:
        'A colleague starts a backup at the same time, and your answer is lost: you cannot know which is yours.',
      faults: [
        { method: 'POST', path: '/backups', effect: { kind: 'colleague' } },
        { method: 'POST', path: '/backups', effect: { kind: 'drop', when: 'after' } },
      ],
    },
    {
      name: 'expired-token',
      summary:
        'After 15 seconds the token is refused; its file holds a new one: a run waits, it does not fail.',
      timeline: [{ after: '15s', do: 'expire-token' }],
    },
    {
      name: 'wrong-key',
      summary: 'Another person set a key on instance orders and made a backup: your key cannot open it.',
      timeline: [
        { do: 'rotate-key', instance: 'orders' },
        { do: 'backup', instance: 'orders' },
      ],
    },
    {
      name: 'region-loss',
      summary:
        'After 15 seconds instance orders is lost, and a router answers 502: only what you prepared before helps.',
      timeline: [{ after: '15s', do: 'lose', instance: 'orders' }],
    },
    {
      name: 'storm',
      summary:
        'The region is lost while queue, router and clock misbehave: one thing at a time, and nothing twice.',
      settings: { workers: 1, taskDelay: '5s', clockSkew: '3m' },
      faults: [
        {
          times: 'always',
          probability: 0.2,
          seed: 71,
          effect: { kind: 'answer', status: 502, when: 'before' },
        },
        {
          method: 'POST',
          times: 'always',
          probability: 0.3,
          seed: 72,
          effect: { kind: 'drop', when: 'after' },
        },
      ],
      timeline: [{ after: '15s', do: 'lose', instance: 'orders' }],
    },
  ] satisfies readonly ScenarioInput[]
).map((scenario) => Scenario.parse(scenario));

/** The scenario of that name. Throws `lab.scenario` when there is none. */
export function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found !== undefined) return found;
  const names = SCENARIOS.map((scenario) => scenario.name);
  throw new LifeboatError('lab.scenario', `there is no scenario ${show(name)}`, {
    hints: [...mostSimilar(name, names), `there are ${names.join(', ')}`],
    exitCode: EXIT.usage,
  });
}
