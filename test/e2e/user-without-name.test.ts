import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';

const UID = '54321';
const canBecome = process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0;

describe.skipIf(!canBecome)('a user id that has no name and no home', () => {
  test('can ask for the version and the schemas, and learns why a home is needed', (context) => {
    const { expect } = context;
    const product = builtProduct({ cheapVault: false });
    const empty = mkdtempSync(join(tmpdir(), 'lifeboat-nobody-'));
    context.onTestFinished(() => rmSync(empty, { recursive: true }));
    const { HOME: _, LIFEBOAT_HOME: _home, XDG_STATE_HOME: _state, ...env } = process.env;
    const run = (...args: readonly string[]) => {
      const own = [`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', process.execPath, product.cli];
      return spawnSync('setpriv', [...own, ...args], { cwd: '/', env, encoding: 'utf8' });
    };
    const version = run('version');
    if (version.stderr.includes('EACCES')) context.skip('another user cannot reach this checkout');
    expect(version).toMatchObject({ status: 0, stderr: '' });
    expect(run('schema', 'config')).toMatchObject({ status: 0, stderr: '' });
    const status = run('status');
    expect(status.status).toBe(2);
    expect(status.stderr).toContain('there is no lifeboat.yaml');
    const doctor = run('doctor');
    expect(doctor.status).toBe(2);
    expect(doctor.stderr).toContain(`user id ${UID} has no home folder, and HOME is not set`);
    expect(doctor.stderr).toContain('hint: set LIFEBOAT_HOME to a folder that belongs to this user');
  });
});
