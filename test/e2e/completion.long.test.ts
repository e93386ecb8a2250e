import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, type TestContext, test } from 'vitest';
import { personAt } from '../bench-kit/person.ts';
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
      test('completes commands, flags, values, runbooks and files, and runs nothing of the command line', {
        timeout: 1_200_000,
      }, async (context) => {
        const { expect } = context;
        const bench = await open(context);
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
        await completes('lifeboat runs --output=js', 'lifeboat runs --output=json');
        await completes('lifeboat run rotate-key --dry', 'lifeboat run rotate-key --dry-run');
        await completes('lifeboat run x --reason "$(touch hurt)" rotate --pl', '--plain');
        expect(existsSync(join(bench.folder, 'hurt'))).toBe(false);
        writeFileSync(join(bench.folder, 'some-backup'), '');
        await completes('lifeboat verify some-b', 'lifeboat verify some-backup');
      });
    });

  test('reads no config and no journal, and prints no reason when it has nothing to offer', async (context) => {
    const { expect } = context;
    const { run, server, env, home } = await open(context);
    const complete = async (...words: string[]) => {
      const { code, stdout, stderr } = await run('complete', 'bash', '--', ...words);
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    const calls = server.calls.length;
    writeFileSync(env['LIFEBOAT_CONFIG'] ?? '', 'instances: [');
    writeFileSync(join(home, 'lifeboat.db'), 'no database');
    expect(await complete('keys', 'list', '')).toBe('');
    expect(await complete('run', 'rotate')).toBe('rotate-key\n');
    expect(await complete('resume', '', '--nosuch', '-')).toContain('--abandon');
    expect(await complete()).toContain('run\n');
    expect(server.calls).toHaveLength(calls);
  });
});
