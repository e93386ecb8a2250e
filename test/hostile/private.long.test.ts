import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, type TestContext, test } from 'vitest';
import { CANARIES } from '../bench-kit/canaries.ts';
import { treeOf } from '../bench-kit/process-tree.ts';
import { ANSWERED, ROTATE, useBenches } from '../bench-kit/test-bench.ts';
import { piecesIn } from './pieces.ts';

const hasProc = existsSync('/proc/self/coredump_filter');
/** Where the kernel hands core files to a program, no test sees them. */
const writesCores = hasProc && !readFileSync('/proc/sys/kernel/core_pattern', 'utf8').startsWith('|');

const hasLimiter = hasProc && spawnSync('prlimit', ['--version']).status === 0;
const FATAL = ['SIGABRT', 'SIGSEGV'] as const;

describe.skipIf(!hasProc)('a process that holds keys', () => {
  const benches = useBenches();

  /**
   * A rotation that waits for the service with the keys in its hands, in a folder of its own, with core files
   * allowed.
   */
  async function waiting(context: Pick<TestContext, 'onTestFinished'>, env: Record<string, string> = {}) {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const bench = await benches(context, {
      trouble: async ({ method }) => {
        if (method !== 'PATCH') return undefined;
        asked.resolve();
        await gate.promise;
        return undefined;
      },
    });
    context.onTestFinished(() => gate.resolve());
    const yard = join(bench.folder, 'yard');
    mkdirSync(yard);
    Object.assign(bench.env, env);
    const under = ['/bin/bash', '-c', `cd '${yard}' && ulimit -c unlimited && exec "$@"`, 'bash'];
    const running = bench.startUnder(under, ...ROTATE, ...ANSWERED);
    await asked.promise;
    const pid = treeOf(running.child.pid ?? 0)[0] ?? 0;
    return { ...bench, ...running, pid, yard, go: gate.resolve };
  }

  test('opens no debugger on a signal, and continues its work', async (context) => {
    const { pid, go, ended, stderr } = await waiting(context);
    const before = listening(pid);
    process.kill(pid, 'SIGUSR1');
    // A second one is sent when the first was taken; Node opens its port within milliseconds.
    for (let look = 0; look < 20; look += 1) {
      expect(listening(pid)).toEqual(before);
      await pause(25);
    }
    expect(stderr()).not.toContain('Debugger');
    go();
    expect((await ended).code).toBe(0);
  });

  test('with an open debugger would be detected', async () => {
    const child = spawn(process.execPath, ['--inspect=127.0.0.1:0', '-e', 'setTimeout(() => 0, 60_000)']);
    await once(child.stderr, 'data');
    expect(listening(child.pid ?? 0)).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  test('leaves no core file at SIGQUIT, and a run that can be resumed', async (context) => {
    const { pid, go, ended, run, yard } = await waiting(context);
    process.kill(pid, 'SIGQUIT');
    go();
    const { code } = await ended;
    expect(code).not.toBe(0);
    expect(readdirSync(yard)).toEqual([]);
    const resumed = await run('resume', '--yes', '--confirm', 'orders');
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  test.skipIf(!hasLimiter).for(FATAL)(
    'writes no core file where this can be forbidden (%s)',
    async (signal, context) => {
      const { pid, ended, yard } = await waiting(context);
      await expect.poll(() => readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/core file size +0 /u);
      process.kill(pid, signal);
      await ended;
      expect(readdirSync(yard)).toEqual([]);
    },
  );

  test.skipIf(!writesCores).for(FATAL)(
    'has no secret of its memory in a core file where this cannot be forbidden (%s)',
    async (signal, context) => {
      const { pid, ended, yard, server, vault } = await waiting(context, { PATH: '/nowhere' });
      process.kill(pid, signal);
      await ended;
      const cores = readdirSync(yard).filter((name) => name.startsWith('core'));
      expect(cores).toHaveLength(1);
      const memory = memoryIn(readFileSync(join(yard, cores[0] ?? '')));
      const keys = [...(await vault()).values()];
      expect(keys.length).toBeGreaterThan(1);
      const secrets = [CANARIES.token, CANARIES.passphrase, ...server.keys, ...keys];
      expect(piecesIn('core', memory, secrets)).toEqual([]);
    },
  );

  test('prints an uncaught error like any other error', async () => {
    const file = join(import.meta.dirname, '../../src/cli/keep-private.ts');
    const script = `(await import(${JSON.stringify(file)})).keepPrivate(); setTimeout(() => { throw new Error('\\u001b]0;HURT\\u0007') })`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = await once(child, 'close');
    expect(code).toBe(1);
    expect(said).toContain('cause: \ufffd]0;HURT\ufffd');
    expect(said).not.toContain('\u001b');
  });
});

/** Inodes of the sockets on which a process waits for others (proc(5), tcp: state 0A). */
function listening(pid: number): string[] {
  const own = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/u.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  const waits = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/u))
      .filter((fields) => fields[3] === '0A')
      .map((fields) => fields[9] ?? ''),
  );
  return own.filter((inode) => waits.includes(inode));
}

/** A core file (elf(5), 64 bits) without its notes, in which the registers are. */
function memoryIn(core: Buffer): string {
  const [at, size, count] = [
    Number(core.readBigUInt64LE(0x20)),
    core.readUInt16LE(0x36),
    core.readUInt16LE(0x38),
  ];
  for (let header = at; header < at + size * count; header += size) {
    const from = Number(core.readBigUInt64LE(header + 8));
    if (core.readUInt32LE(header) === 4) core.fill(0, from, from + Number(core.readBigUInt64LE(header + 32)));
  }
  return core.toString('latin1');
}
