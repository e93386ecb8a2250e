import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TestBench } from '../bench-kit/test-bench.ts';
import { count } from './figures.ts';
import { type Measured, measured } from './peak.ts';

/** The most memory that a process may ever have in use, MiB. */
const MAX_MIB = 250;

/**
 * Runs a command that has to end by itself, in little memory, with words of its own, and to leave nothing in
 * the temporary folder.
 */
export type Calm = (...args: string[]) => Promise<Measured>;

/** Gives a bench a temporary folder of its own, and the way to run commands that have to keep calm in it. */
export function calmIn(bench: Pick<TestBench, 'folder' | 'env' | 'start'>): Calm {
  const temporary = join(bench.folder, 'tmp');
  mkdirSync(temporary);
  Object.assign(bench.env, { TMPDIR: temporary });
  return async (...args) => {
    const end = await measured(bench.start(...args));
    const about = `${args.join(' ').slice(0, 300)}: ${end.stdout.slice(0, 300)} ${end.stderr.slice(0, 600)}`;
    expect(end.peak, about).toBeGreaterThan(10);
    expect(end.peak, about).toBeLessThan(MAX_MIB);
    expect(end.stderr, about).not.toMatch(/does not know\n| {4}at |FATAL|RangeError/u);
    expect(end.code, about).not.toBeNull();
    expect(readdirSync(temporary), about).toEqual([]);
    count('sizes', { commands: 1 });
    return end;
  };
}
