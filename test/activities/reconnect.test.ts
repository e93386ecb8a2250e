import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { BoundApp } from '../../machines/parts/recovery-data.ts';
import type { SendContext } from '../../src/activities/activity.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';
import { findBound } from '../../src/activities/find-bound.ts';
import { proveApp } from '../../src/activities/on-platform.ts';
import { reconnectApp } from '../../src/activities/reconnect.ts';
import { redact } from '../../src/base/redact.ts';
import { Secret } from '../../src/base/secret.ts';
import { contextOf } from './world.ts';

const context = {
  ...contextOf(() => new Date('2026-03-01T03:00:00Z')),
  mayLeave: () => undefined,
} as SendContext;
const KEY = 'key-of-the-backups-1234';

afterEach(() => vi.unstubAllEnvs());

/** A folder with a program made of these shell lines. */
function program(...lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'lifeboat-reconnect-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'reconnect');
  writeFileSync(path, `#!/bin/sh\n${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
  return path;
}

function depsOf(command: readonly string[], proof: readonly string[] = ['true'], timeout = 60_000) {
  const apps = [{ name: 'orders-api', reconnect: { command, proof, timeout } }];
  return {
    name: 'orders',
    apps,
    hideEnv: ['ORDERS_TOKEN'],
    blank: (text: string) => redact(text, [new Secret(KEY)]),
    platform: async () => ({ none: 'the config says that there is no platform', by: 'config' as const }),
  } as unknown as ActivityDeps;
}

async function bound(deps: ActivityDeps) {
  const found = await findBound(deps).run({ restored: 'instance' }, context);
  if (!found.ok) throw new Error(found.failure.shortMessage);
  return found.output;
}

async function ran(deps: ActivityDeps, app?: BoundApp) {
  const given = app ?? (await bound(deps)).apps[0];
  if (given === undefined) throw new Error('the config names no application');
  return reconnectApp(deps).run(
    { app: given, to: 'orders-dr' },
    { ...context, announce: async () => undefined },
  );
}

async function proven(deps: ActivityDeps) {
  const [app] = (await bound(deps)).apps as [BoundApp];
  const to = { guid: '', name: 'orders' };
  return proveApp(deps).run({ app, to, notBefore: '' }, context);
}

describe("a team's own command", () => {
  test('is listed for its application, with a note that there is no platform', async () => {
    expect(await bound(depsOf(['./go.sh', 'a b'], ['./prove.sh']))).toMatchObject({
      way: 'hand',
      platform: 'none',
      apps: [{ name: 'orders-api', reconnect: { command: ['./go.sh', 'a b'], proof: ['./prove.sh'] } }],
    });
  });

  test('gets its arguments unchanged, and also the application and instance', async () => {
    const path = program('echo "$1|$LIFEBOAT_APP|$LIFEBOAT_INSTANCE|$LIFEBOAT_RUN"');
    expect(await ran(depsOf([path, '$(id); echo x']))).toMatchObject({
      ok: true,
      output: {
        outcome: 'done',
        at: '2026-03-01T03:00:00.000Z',
        evidence: { exit: 0, said: `$(id); echo x|orders-api|orders-dr|${context.runId}` },
      },
    });
  });

  test('gets neither tokens nor what lifeboat is configured by', async () => {
    vi.stubEnv('ORDERS_TOKEN', 'bearer-of-orders');
    vi.stubEnv('LIFEBOAT_PASSPHRASE_FILE', '/a/file');
    const path = program('echo "[$ORDERS_TOKEN$LIFEBOAT_PASSPHRASE_FILE]"');
    expect(await ran(depsOf([path]))).toMatchObject({ output: { evidence: { said: '[]' } } });
  });

  test('that prints a secret leaves no trace of it, and nothing that acts on a terminal', async () => {
    vi.stubEnv('PGPASSWORD', 'word-of-the-database');
    const path = program(`printf '${KEY} \\033[31m'; echo "$PGPASSWORD"; exit 3`);
    const failed = await ran(depsOf([path]));
    expect(failed).toMatchObject({ ok: false, failure: { code: 'reconnect.failed', evidence: { exit: 3 } } });
    const text = JSON.stringify(failed);
    expect(text).toContain('[secret]');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('word-of-the-database');
    expect(text).not.toMatch(/\\u001b/u);
  });

  test('that prints without end is cut, and no partial secret is shown at the cut', async () => {
    vi.stubEnv('MY_SECRET', 'x'.repeat(40_000));
    const path = program('printf "%s%s\\n" "$MY_SECRET" "$MY_SECRET"; echo ok >&2');
    expect(await ran(depsOf([path]))).toMatchObject({ output: { evidence: { said: 'ok' } } });
  });

  test('that takes too long is ended, and is recorded as possibly done in part', async () => {
    const failed = await ran(depsOf(['sleep', '600'], ['true'], 50));
    expect(failed).toMatchObject({ ok: false, failure: { code: 'reconnect.timeout' } });
  });

  test('that is not installed is recorded as not run', async () => {
    const failed = await ran(depsOf(['no-such-program-of-anybody']));
    expect(failed).toMatchObject({ ok: false, failure: { code: 'reconnect.not-run' } });
  });

  test('is taken from the config: another one in the journal is never run', async () => {
    const path = program('exit 0');
    const deps = depsOf([path]);
    const [app] = (await bound(deps)).apps as [BoundApp];
    const forged = { ...app, reconnect: { command: ['sh', '-c', 'exit 0'], proof: ['true'] } };
    expect(await ran(deps, forged)).toMatchObject({ ok: false, failure: { code: 'reconnect.changed' } });
  });

  test('is not started if another process may have the run', async () => {
    const deps = depsOf([program('exit 0')]);
    const [app] = (await bound(deps)).apps as [BoundApp];
    const refuse = () => {
      throw new Error('the run is held by somebody else');
    };
    const given = { ...context, mayLeave: refuse, announce: async () => undefined };
    expect((await reconnectApp(deps).run({ app, to: 'orders' }, given)).ok).toBe(false);
  });
});

describe('its proof', () => {
  test('is the exit code 0, and is needed even if the command succeeded', async () => {
    expect(await proven(depsOf(['true'], ['true']))).toMatchObject({
      ok: true,
      output: { text: 'proven by true', evidence: { exit: 0 } },
    });
    expect(await proven(depsOf(['true'], [program('echo no pod is ready', 'exit 1')]))).toMatchObject({
      ok: false,
      failure: {
        code: 'reconnect.not-proven',
        shortMessage: 'the proof of orders-api ended with 1: "no pod is ready"',
      },
    });
  });
});
