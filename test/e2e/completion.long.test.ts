import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { describe, type TestContext, test } from 'vitest';
import { personAt } from '../bench-kit/person.ts';
import { itemsIn } from '../bench-kit/results.ts';
import { openProgram } from '../bench-kit/terminal.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { describeWith } from '../keys/programs.ts';

const TAB = '\t';
const CLEAR = '\u0015';

/** How each shell is started with nothing of its user, and given the script. */
const SHELLS = [
  {
    shell: 'bash',
    words: ['bash', '--norc', '--noprofile', '-i'],
    prepare: "PS1='$ '; source <(lifeboat completion bash); echo ready",
  },
  {
    shell: 'zsh',
    words: ['zsh', '-f', '-i'],
    prepare: "PS1='$ '; autoload -U compinit && compinit -u; source <(lifeboat completion zsh); echo ready",
  },
  {
    shell: 'fish',
    words: ['fish', '--no-config', '-i'],
    prepare: 'lifeboat completion fish | source; echo ready',
  },
] as const;

describe('completion', () => {
  const benches = useQuickBenches();

  async function open(context: Pick<TestContext, 'onTestFinished'>) {
    const bench = await benches(context);
    const bin = join(bench.folder, 'bin');
    mkdirSync(bin);
    const program = `#!/bin/sh\nexec '${process.execPath}' '${bench.product.cli}' "$@"\n`;
    writeFileSync(join(bin, 'lifeboat'), program, { mode: 0o755 });
    const env: Readonly<Record<string, string>> = { ...bench.env, PATH: `${bin}:${process.env['PATH']}` };
    return { ...bench, env };
  }

  for (const { shell, words, prepare } of SHELLS)
    describeWith([shell, 'script'], `by the Tab key in ${shell}`, () => {
      test('completes commands, flags, values, instances, runs and files, and runs nothing of the line', {
        timeout: 1_200_000,
      }, async (context) => {
        const { expect } = context;
        const bench = await open(context);
        await bench.run('run', 'back-up-and-verify', 'orders', '--yes');
        const [{ runId } = { runId: '' }] = itemsIn<{ runId: string }>(
          (await bench.run('runs', '--json')).stdout,
        );
        const screen = personAt(openProgram(words, bench.product, bench), expect);
        context.onTestFinished(() => screen.close());
        screen.type(`cd ${bench.folder}; ${prepare}\r`);
        await screen.shows(/^ready/mu);
        const completes = async (typed: string, completed: string) => {
          screen.type(`${typed}${TAB}`);
          await screen.shows(`${completed} `);
          screen.type(CLEAR);
        };
        await completes('lifeboat comple', 'lifeboat completion');
        await completes('lifeboat run rotate-k', 'lifeboat run rotate-key');
        await completes('lifeboat backups list orders-', 'lifeboat backups list orders-dr');
        await completes('lifeboat runs --output=js', 'lifeboat runs --output=json');
        await completes('lifeboat run rotate-key --dry', 'lifeboat run rotate-key --dry-run');
        await completes(`lifeboat audit show ${runId.slice(0, 20)}`, `lifeboat audit show ${runId}`);
        await completes('lifeboat run x --reason "$(touch hurt)" rotate --pl', '--plain');
        expect(existsSync(join(bench.folder, 'hurt'))).toBe(false);
        writeFileSync(join(bench.folder, 'some-backup'), '');
        await completes('lifeboat verify some-b', 'lifeboat verify some-backup');
      });
    });

  test('asks neither a service nor a key store nor the database of a team, and never says why it has nothing', async (context) => {
    const { expect } = context;
    const { run, server, env, home } = await open(context);
    await run('run', 'back-up-and-verify', 'orders', '--yes');
    const config = env['LIFEBOAT_CONFIG'] ?? '';
    const complete = async (...words: string[]) => {
      const { code, stdout, stderr } = await run('complete', 'bash', '--', ...words);
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    const keys = await run('keys', 'list', 'orders', '--json');
    // Nothing opens the vault without it.
    writeFileSync(env['LIFEBOAT_PASSPHRASE_FILE'] ?? '', 'another one, of nobody', { mode: 0o600 });
    const calls = server.calls.length;
    expect(await complete('keys', 'list', '')).toBe('orders\norders-dr\n');
    expect(await complete('resume', '')).toMatch(/^last\n01/u);
    const [held] = itemsIn<{ fingerprint: string }>(keys.stdout).map(({ fingerprint }) => fingerprint);
    expect(await complete('dr', 'perform', 'orders-dr', '--source', 'orders', '--key', '')).toBe(`${held}\n`);
    expect(await complete('dr', 'perform', 'orders-dr', '--key', '')).toBe('');
    expect(await complete('dr', 'perform', '--key', '')).toBe(`${held}\n`);
    appendFileSync(config, 'notify: [{ name: on-call, command: cat }]\n');
    expect(await complete('notify', 'test', '')).toBe('on-call\n');
    expect(server.calls).toHaveLength(calls);

    let asked = 0;
    const database = createServer(() => (asked += 1)).listen(0, '127.0.0.1');
    await once(database, 'listening');
    context.onTestFinished(() => void database.close());
    const { port } = database.address() as { port: number };
    appendFileSync(config, `store: postgres://ada@127.0.0.1:${port}/lifeboat\n`);
    expect(await complete('resume', '')).toBe('');
    expect(await complete('followups', 'done', '')).toBe('');
    expect(asked).toBe(0);

    writeFileSync(config, readFileSync(config, 'utf8').replace('instances:', 'instances: ['));
    expect(await complete('keys', 'list', '')).toBe('');
    writeFileSync(join(home, 'lifeboat.db'), 'no database');
    expect(await complete('resume', '', '--nosuch', '-')).toContain('--abandon');
    expect(await complete()).toContain('run\n');
  });
});
