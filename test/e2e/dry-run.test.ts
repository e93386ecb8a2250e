import { describe, test } from 'vitest';
import { answerIn } from '../bench-kit/results.ts';
import { ROTATE, type TestBench, useQuickBenches } from '../bench-kit/test-bench.ts';

interface Planned {
  readonly steps: readonly { readonly asks?: string }[];
  readonly usual?: { readonly seconds: number; readonly runs: number };
}

describe.concurrent('a dry run', () => {
  const bench = useQuickBenches();

  test('lists a question only until a flag has answered it', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const backups = await home.run('backups', 'list', '-i', 'orders', '--json');
    const { id } = answerIn(backups.stdout)[0];
    const asked = (planned: Planned) => planned.steps.flatMap(({ asks }) => asks ?? []);
    const open = asked(await planOf(home, 'run', 'restore-backup', '-i', 'orders'));
    const chosen = asked(await planOf(home, 'run', 'restore-backup', '-i', 'orders', '--backup', String(id)));
    expect(open).toContain('which backup is restored');
    expect(chosen).toEqual(open.filter((title) => title !== 'which backup is restored'));
  });

  test('marks only calls that lose data as DESTROYS', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    const effectsOf = async (...words: readonly string[]) => {
      const { stdout } = await home.run('run', ...words, '-i', 'orders', '--dry-run');
      return [...new Set(stdout.match(/\b(?:DESTROYS|CHANGES)\b/gu))].sort();
    };
    expect(await effectsOf('change-instance', '--action', 'restart')).toEqual(['CHANGES']);
    expect(await effectsOf('change-instance', '--action', 'update')).toEqual(['CHANGES']);
    expect(await effectsOf('change-instance', '--action', 'recreate')).toEqual(['DESTROYS']);
    expect(await effectsOf('rotate-key')).toEqual(['CHANGES']);
    expect(await effectsOf('restore-backup')).toContain('DESTROYS');
  });

  test('says how long such a run takes once one has ended with proof', async (context) => {
    const { expect } = context;
    const home = await bench(context);
    expect(await planOf(home, ...ROTATE)).not.toHaveProperty('usual');
    const { code, stderr } = await home.rotate();
    expect(code, stderr).toBe(0);
    expect((await planOf(home, ...ROTATE)).usual).toEqual({ seconds: expect.any(Number), runs: 1 });
    const { stdout } = await home.run(...ROTATE, '--dry-run');
    expect(stdout).toMatch(
      /^how long it takes\n {2}\S.* without the time for your answers, as the last run$/mu,
    );
  });
});

async function planOf(home: TestBench, ...words: readonly string[]): Promise<Planned> {
  const { code, stdout, stderr } = await home.run(...words, '--dry-run', '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Planned;
}
