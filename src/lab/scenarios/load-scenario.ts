import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { EXIT, LifeboatError } from '../../base/errors.ts';
import { show } from '../../base/text.ts';
import { Scenario } from './scenario.ts';

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
  // A bomb of aliases makes this throw instead of filling the memory.
  let content: unknown;
  try {
    content = document.toJS();
  } catch (cause) {
    throw broken(path, String(cause), cause);
  }
  return parseScenario(content, path);
}

/**
 * A scenario in plain data. Throws `lab.scenario`, which names the source and the place of the first mistake.
 */
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
