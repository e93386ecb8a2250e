import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { Duration, Offset } from '../../base/duration.ts';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { mostSimilar } from '../../base/similar.ts';
import { show } from '../../base/text.ts';
import { Fault } from '../faults.ts';

/** Real time since the scenario began. */
const after = Duration.default(0);
/** Name or guid. */
const instance = z.string().min(1);

const Step = z.discriminatedUnion('do', [
  /** The instance is lost: its database is killed, and a router answers 502 in its place. */
  z.strictObject({ do: z.literal('lose'), after, instance }),
  z.strictObject({ do: z.literal('bring-back'), after, instance }),
  z.strictObject({ do: z.literal('fault'), after, fault: Fault }),
  /** Ends all faults; tasks held in the queue go on. */
  z.strictObject({ do: z.literal('clear'), after }),
  /** Tasks held in the queue go on; faults stay. */
  z.strictObject({ do: z.literal('release'), after }),
  /** The current full token is refused from now on; the token file holds a new one. */
  z.strictObject({ do: z.literal('expire-token'), after }),
  /** Another person gives the instance a key that no one else learns. */
  z.strictObject({ do: z.literal('rotate-key'), after, instance }),
  /** Another person starts a backup. */
  z.strictObject({ do: z.literal('backup'), after, instance }),
  /** The metrics show a persistent disk this full; 80 % open the parachute (section 2.8). */
  z.strictObject({ do: z.literal('fill-disk'), after, instance, percent: z.number().min(0).max(100) }),
  z.strictObject({ do: z.literal('advance'), after, by: Duration }),
  /** The service's clock is off by this much. */
  z.strictObject({ do: z.literal('skew'), after, by: Offset }),
]);
export type Step = z.output<typeof Step>;

/** At least a second: a lab that does nothing else would never come to rest. */
const Period = Duration.refine((ms) => ms >= 1_000, 'must be 1s or more');

const Settings = z.strictObject({
  workers: z.int().positive().optional(),
  /** How long a worker waits before each task's work. */
  taskDelay: Duration.optional(),
  /** The service's time between scheduled backups of each instance. */
  backupEvery: Period.optional(),
  /** The service's time between the lab's own maintenance of each instance that allows it. */
  maintenanceEvery: Period.optional(),
  /** The error of the service's clock; negative is behind. */
  clockSkew: Offset.optional(),
  /** How fast the service's clock runs: 1 or more. */
  clockRate: z.number().min(1).max(100_000).optional(),
});

export const Scenario = z.strictObject({
  name: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/u, 'must be lower-case words joined by -'),
  /** One sentence: what a team learns from it. */
  summary: z.string().min(1),
  settings: Settings.default({}),
  /** Active from the start. */
  faults: z.array(Fault).default([]),
  timeline: z.array(Step).default([]),
});
/** A scenario with all defaults filled in; durations in milliseconds. */
export type Scenario = z.output<typeof Scenario>;
export type ScenarioInput = z.input<typeof Scenario>;

/**
 * Reads a scenario from a YAML file. Rejects with `lab.scenario` and the place of the first mistake. Whether
 * its faults can happen and its instances exist shows when it is played.
 *
 *     name: black-friday
 *     summary: The queue is long when the region goes, and the token runs out while we wait.
 *     settings:
 *       workers: 1
 *       taskDelay: 20s
 *       clockSkew: -90s
 *     faults:
 *       - method: POST
 *         path: /backups
 *         after: 1
 *         times: always
 *         probability: 0.5
 *         seed: 7
 *         effect: { kind: answer, status: 503, when: before, retryAfter: 5 }
 *     timeline:
 *       - { after: 20s, do: lose, instance: orders }
 *       - { after: 1m30s, do: expire-token }
 *       - { after: 15m, do: bring-back, instance: orders }
 *
 * Only `name` and `summary` are required. Durations are real time since the scenario began; `clockSkew` may
 * be less than nothing.
 */
export async function loadScenario(path: string): Promise<Scenario> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw broken(path, `it cannot be read (${cause.code ?? 'unknown error'})`, cause);
  });
  const document = parseDocument(text);
  const [mistake] = document.errors;
  if (mistake !== undefined) {
    const line = mistake.linePos?.[0].line;
    throw broken(path, `line ${line ?? '?'} is not YAML: ${mistake.message.split('\n')[0]}`, mistake);
  }
  // An alias bomb makes this throw instead of filling the memory.
  let content: unknown;
  try {
    content = document.toJS();
  } catch (cause) {
    throw broken(path, String(cause), cause);
  }
  return parseScenario(content, path);
}

/** Parses a scenario from plain data. Throws `lab.scenario` with the source and the first mistake. */
export function parseScenario(content: unknown, source: string): Scenario {
  const parsed = Scenario.safeParse(content);
  if (parsed.success) return parsed.data;
  throw broken(source, firstMistake(parsed.error), parsed.error);
}

function firstMistake(error: z.ZodError): string {
  const [issue] = error.issues;
  const place = (issue?.path ?? []).reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : `${text}${text === '' ? '' : '.'}${String(part)}`,
    '',
  );
  return `${place === '' ? '' : `${place}: `}${issue?.message ?? ''}`;
}

function broken(source: string, why: string, cause: unknown): LifeboatError {
  return new LifeboatError('lab.scenario', `the scenario ${show(source)} cannot be used: ${show(why)}`, {
    hints: ['name and summary are required; settings, faults and timeline may follow'],
    cause,
    exitCode: EXIT.usage,
  });
}

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
