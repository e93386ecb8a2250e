import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadScenario, parseScenario, SCENARIOS, scenarioNamed } from '../../src/lab/scenarios/scenario.ts';
import { temporaryFolder } from './helpers.ts';

async function load(text: string) {
  const path = join(await temporaryFolder(), 'scenario.yaml');
  await writeFile(path, text);
  return await loadScenario(path);
}

const EXAMPLE = `
name: black-friday
summary: The queue is long when the region goes, and the token runs out while we wait.
settings:
  workers: 1
  taskDelay: 20s
  clockSkew: -90s
faults:
  - method: POST
    path: /backups
    after: 1
    times: always
    probability: 0.5
    seed: 7
    effect: { kind: answer, status: 503, when: before, retryAfter: 5 }
timeline:
  - { after: 20s, do: lose, instance: orders }
  - { after: 1m30s, do: expire-token }
  - { after: 15m, do: bring-back, instance: orders }
`;

describe('a scenario in a file', () => {
  test('is read with its durations in milliseconds and all defaults filled in', async () => {
    expect(await load(EXAMPLE)).toEqual({
      name: 'black-friday',
      summary: 'The queue is long when the region goes, and the token runs out while we wait.',
      settings: { workers: 1, taskDelay: 20_000, clockSkew: -90_000 },
      faults: [
        {
          method: 'POST',
          path: '/backups',
          after: 1,
          times: 'always',
          probability: 0.5,
          seed: 7,
          effect: { kind: 'answer', status: 503, when: 'before', body: 'html', retryAfter: 5 },
        },
      ],
      timeline: [
        { after: 20_000, do: 'lose', instance: 'orders' },
        { after: 90_000, do: 'expire-token' },
        { after: 900_000, do: 'bring-back', instance: 'orders' },
      ],
    });
  });

  test('needs a name and a sentence, nothing else', async () => {
    expect(await load('{ name: quiet, summary: Nothing. }')).toEqual({
      name: 'quiet',
      summary: 'Nothing.',
      settings: {},
      faults: [],
      timeline: [],
    });
  });

  const head = 'name: a\nsummary: b\n';
  test.each([
    ['timeline[0].after', `${head}timeline: [{ after: soon, do: clear }]`, 'not a duration'],
    ['timeline[1].instance', `${head}timeline: [{ do: clear }, { do: lose }]`, ''],
    ['timeline[0].do', `${head}timeline: [{ do: explode }]`, ''],
    [
      'timeline[0].fault.effect.when',
      `${head}timeline: [{ do: fault, fault: { effect: { kind: drop } } }]`,
      '',
    ],
    ['faults[0].effect.kind', `${head}faults: [{ effect: { kind: bang } }]`, ''],
    ['settings.workers', `${head}settings: { workers: 0 }`, ''],
    ['settings.taskDelay', `${head}settings: { taskDelay: -1s }`, 'not a duration'],
    ['settings', `${head}settings: { wrokers: 1 }`, 'wrokers'],
    ['name', 'name: Black Friday\nsummary: b', 'lower-case words'],
    ['summary', 'name: a', ''],
    ['Invalid input', '- 1', 'expected object'],
    ['Invalid input', '', 'expected object'],
    ['line 2', 'name: a\nsummary: "b', 'is not YAML'],
    ['line 2', 'name: a\nname: b', 'is not YAML'],
  ])('with a mistake at %s is refused, and the place is named: %j', async (place, text, why) => {
    await expect(load(text)).rejects.toMatchObject({
      code: 'lab.scenario',
      exitCode: 2,
      shortMessage: expect.stringMatching(
        new RegExp(`cannot be used: ${place.replace(/[[\]]/gu, '\\$&')}[: ].*${why}`),
      ),
    });
  });

  test('that is missing, or too large for the memory, is refused', async () => {
    await expect(loadScenario('/nowhere/scenario.yaml')).rejects.toMatchObject({
      code: 'lab.scenario',
      shortMessage: expect.stringContaining('it cannot be read (ENOENT)'),
    });
    const bomb = [
      'a: &a [1,1,1,1,1,1,1,1,1]',
      ...'bcdefgh'.split('').map((name, at) => {
        const inner = String.fromCharCode(97 + at);
        return `${name}: &${name} [${`*${inner},`.repeat(9)}]`;
      }),
    ].join('\n');
    await expect(load(bomb)).rejects.toMatchObject({ code: 'lab.scenario' });
  });

  test('cannot act on the terminal that shows its mistake', () => {
    expect(() => parseScenario({ name: 'a', summary: 'b', '\u001b]0;x': 1 }, '\u001b[2J')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('\u001b') }),
    );
  });
});

describe('the named scenarios', () => {
  test('are found by their names, and each says in one sentence what it teaches', () => {
    for (const scenario of SCENARIOS) {
      expect(scenarioNamed(scenario.name)).toBe(scenario);
      expect(scenario.summary).toMatch(/^[A-Z][^.]+\.$/u);
    }
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
  });

  test('an unknown name is refused with the known ones', () => {
    expect(() => scenarioNamed('earthquake')).toThrow(
      expect.objectContaining({
        code: 'lab.scenario',
        hints: [expect.stringContaining('calm, slow-queue')],
      }),
    );
  });
});
