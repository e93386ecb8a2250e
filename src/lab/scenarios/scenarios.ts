import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { Scenario, type ScenarioInput } from './scenario.ts';

/** The scenarios that come with the lab, by ascending trouble. */
export const SCENARIOS: readonly Scenario[] = (
  [
    { name: 'calm', summary: 'Nothing goes wrong: the way itself is learned.' },
    {
      name: 'slow-queue',
      summary: 'One worker takes 20 seconds before each task: waiting is not failing, and nobody asks twice.',
      settings: { workers: 1, taskDelay: '20s' },
    },
    {
      name: 'stuck-task',
      summary:
        'The first task is never picked up until the faults are cleared: when to stop waiting, and whom to call.',
      faults: [{ effect: { kind: 'task', outcome: 'queued' } }],
    },
    {
      name: 'skewed-clock',
      summary: "The service's clock is seven minutes behind: times of two clocks are not compared blindly.",
      settings: { clockSkew: '-7m' },
    },
    {
      name: 'disk-pressure',
      summary:
        'The disk of orders is filled to 79 percent, one below where its parachute opens: look at the metrics before a restore.',
      timeline: [{ do: 'fill-disk', instance: 'orders', percent: 79 }],
    },
    {
      name: 'failing-task',
      summary:
        'The first task fails after it was accepted: an accepted call is not a backup and not a restore.',
      faults: [{ effect: { kind: 'task', outcome: 'failed' } }],
    },
    {
      name: 'flaky-router',
      summary:
        'Some calls never arrive, and some are answered by a router with 502 although they were carried out: a router does not know what the service did.',
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
      summary:
        'Some answers to questions are cut in half or spoiled: what cannot be read is asked again, not guessed.',
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
      summary:
        'The first two downloads are slow and end before their last byte: half a backup must not pass for a whole one.',
      faults: [
        { path: '/backups/:id/download', times: 2, effect: { kind: 'slow', bytesPerSecond: 1_000_000 } },
        { path: '/backups/:id/download', times: 2, effect: { kind: 'abort', ms: 3_000 } },
      ],
    },
    {
      name: 'lost-answers',
      summary: 'What is asked for with POST happens, but no answer comes back: look before asking again.',
      faults: [{ method: 'POST', times: 'always', effect: { kind: 'drop', when: 'after' } }],
    },
    {
      name: 'colleague',
      summary:
        'Somebody else starts a backup at the same moment, and the answer to ours is lost: which of the two is ours cannot be known.',
      faults: [
        { method: 'POST', path: '/backups', effect: { kind: 'colleague' } },
        { method: 'POST', path: '/backups', effect: { kind: 'drop', when: 'after' } },
      ],
    },
    {
      name: 'expired-token',
      summary:
        'After 15 seconds the token is refused and a new one stands in its file: a run waits for credentials, it does not fail.',
      timeline: [{ after: '15s', do: 'expire-token' }],
    },
    {
      name: 'wrong-key',
      summary:
        'Somebody gave orders another key, and its newest backup was made with that: the key we hold brings nothing back.',
      timeline: [
        { do: 'rotate-key', instance: 'orders' },
        { do: 'backup', instance: 'orders' },
      ],
    },
    {
      name: 'region-loss',
      summary:
        'After 15 seconds orders is gone and a router answers 502 in its place: only what was prepared before helps now.',
      timeline: [{ after: '15s', do: 'lose', instance: 'orders' }],
    },
    {
      name: 'storm',
      summary:
        'The region is lost while the queue is slow, the router flaky and the clock wrong: one thing at a time, and nothing twice.',
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
  throw new LifeboatError('lab.scenario', `there is no scenario ${show(name)}`, {
    hints: [`there are ${SCENARIOS.map((scenario) => scenario.name).join(', ')}`],
    exitCode: EXIT.usage,
  });
}
