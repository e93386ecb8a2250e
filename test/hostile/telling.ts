import { expect } from 'vitest';
import { itemsIn } from '../bench-kit/results.ts';
import type { Watched } from './watched.ts';

interface Listed {
  readonly runId: string;
  readonly runbook: string;
}

const FORMATS = ['md', 'html', 'json'] as const;

/**
 * Everything that tells of a run afterwards. What is written goes where it is looked at: `BUNDLE` stands for
 * the bundle.
 */
const OF_A_RUN: readonly (readonly string[])[] = [
  ...FORMATS.map((format) => ['report', 'RUN', '--format', format]),
  ['audit', 'show', 'RUN'],
  ['audit', 'show', '--json'],
  ['audit', 'export', 'RUN', '--out', 'BUNDLE'],
  ['audit', 'verify', 'BUNDLE'],
  ['audit', 'export', 'RUN', '--lines'],
  ['audit', 'verify'],
  ['keys', 'list'],
  ['runs'],
];

/**
 * Runs every command that shows the newest run. Each has to succeed, so that there is something to look at.
 * It also compares that run with the newest other one of its kind: a plan's with a plan's.
 */
export async function tellAll(run: Watched): Promise<void> {
  const runs = itemsIn<Listed>((await run('runs', '--json')).stdout);
  const [last, ...others] = runs.toSorted((one, other) => (one.runId < other.runId ? 1 : -1));
  const newest = last?.runId ?? '';
  const older = others.find(({ runbook }) => (runbook === 'plan') === (last?.runbook === 'plan'))?.runId;
  const good = async (words: readonly string[]) => {
    const end = await run(...words.map((word) => (word === 'RUN' ? newest : word)));
    // A bundle pins nothing by itself.
    const due = words.join(' ') === 'audit verify BUNDLE' ? 3 : 0;
    expect(end.code, `${words.join(' ')}: ${end.stderr}`).toBe(due);
    expect(end.stdout, words.join(' ')).not.toBe('');
  };
  expect(newest).not.toBe('');
  for (const words of OF_A_RUN) await good(words);
  expect((await run('approvals')).stderr).not.toContain('error');
  expect([0, 3]).toContain((await run('followups')).code);
  if (older === undefined) return;
  for (const format of FORMATS) await good(['report', '--compare', older, newest, '--format', format]);
}
