import { expect, test } from 'vitest';
import { LifeboatError } from '../../src/base/errors.ts';
import { printError } from '../../src/cli/print-error.ts';
import { errorCodes } from '../docs/error-codes.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

test('an error ends with the exit code that the documents give for it', () => {
  const lines: string[] = [];
  const error = new LifeboatError('backup.none', 'there is no backup', { hints: ['make one'] });
  expect(printError(error, { write: (text) => lines.push(text) })).toBe(1);
  expect(lines.join('')).toBe('lifeboat: there is no backup\nhint: make one\ncode: backup.none\n');
});

test('every code of the source is found with its message, however it is written there', () => {
  const codes = new Map(errorCodes(ROOT).map((words) => [words.code, words]));
  expect(codes.size).toBeGreaterThan(300);
  expect(codes.get('trust.refused')?.message).toMatch(/\w \w/u);
  // Of a call, of a list of statuses, of a failure as data.
  for (const code of ['config.instance', 'keys.no-bus', 'service.not-found', 'service.conflict'])
    expect(codes.get(code)?.message, code).toMatch(/\w \w/u);
});
