import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';

/** A device on which every write finds the disk full (full(4)). */
const FULL = '/dev/full';

describe('what a command prints', () => {
  const product = builtProduct({ cheapVault: true });

  test.runIf(existsSync(FULL)).for(['--version', '--help', 'lab --help'])(
    'on a full disk is not a success: %s',
    (words, { expect, ...context }) => {
      const { env } = openMachine(product, context);
      const shell = `exec "$0" "$1" ${words} > ${FULL}`;
      const ended = spawnSync('/bin/sh', ['-c', shell, process.execPath, product.cli], { env });
      expect(ended.status).toBe(1);
      expect(String(ended.stderr)).toMatch(/the output is incomplete: the disk is full\nhint: /u);
    },
  );

  test('for a reader that goes away after one line is a success', ({ expect, ...context }) => {
    const { env } = openMachine(product, context);
    const shell = '{ "$0" "$1" --help; echo "rc=$?" >&2; } | head -n 1';
    const ended = spawnSync('/bin/sh', ['-c', shell, process.execPath, product.cli], {
      env: { ...env, PATH: process.env['PATH'] },
    });
    expect(String(ended.stderr)).toBe('rc=0\n');
    expect(String(ended.stdout)).toMatch(/^Usage: lifeboat [^\n]+\n$/u);
  });

  test.for([['help'], ['help', 'run'], ['run', '--help']])(
    'is help for %s',
    async (words, { expect, ...context }) => {
      const { code, stdout } = await openMachine(product, context).start(...words).ended;
      expect(code).toBe(0);
      expect(stdout).toMatch(
        words.includes('run') ? /^Usage: lifeboat run / : /^Usage: lifeboat \[options\]/,
      );
    },
  );
});
