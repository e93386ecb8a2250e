import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { planStep } from '../../machines/index.ts';
import { questionOf } from '../../src/runner/answer.ts';
import { foldGrowing } from '../../src/runner/fold.ts';
import type { Entry } from '../../src/store/journal.ts';

test('a command of kind once says of another try that it asks first whether the command has happened', () => {
  const text = readFileSync('test/histories/plan-step-1/command-already.jsonl', 'utf8');
  const entries = text.trim().split('\n').slice(0, 3);
  const { snapshot } = foldGrowing(
    planStep,
    entries.map((line) => JSON.parse(line) as Entry),
  );
  const retry = questionOf(snapshot)?.options.find(({ event }) => event.type === 'operator.retry');
  expect(retry?.hint).toBe('runs it, unless its `landed` program says by then that it has happened');
});
