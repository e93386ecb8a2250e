import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { type TestBench, useBenches } from '../bench-kit/test-bench.ts';

/** Counts its runs, says so, and goes on for as long as there is a file `hang`. */
const COMMAND = `#!/bin/sh
cd "$(dirname "$0")" || exit 9
echo "$LIFEBOAT_APP $LIFEBOAT_INSTANCE $1" >> ran
while [ -e hang ]; do sleep 0.05; done
`;
const PROOF = '#!/bin/sh\ntest -e "$(dirname "$0")/works" || { echo "no pod is ready"; exit 1; }\n';
const ID = 'rebind-orders-api';

describe.concurrent("a team's own commands for an application, without a platform", () => {
  const bench = useBenches();

  async function withCommands(context: Parameters<typeof bench>[0]) {
    const opened = await bench(context);
    const { folder } = opened;
    const at = (name: string) => join(folder, name);
    writeFileSync(at('reconnect'), COMMAND, { mode: 0o755 });
    writeFileSync(at('prove'), PROOF, { mode: 0o755 });
    const config = readFileSync(at('lifeboat.yaml'), 'utf8');
    const apps = '[{ name: orders-api, reconnect: { command: [./reconnect, "a b"], proof: [./prove] } }]';
    writeFileSync(at('lifeboat.yaml'), config.replace('apps: []', `apps: ${apps}`));
    return {
      ...opened,
      at,
      ran: () => (existsSync(at('ran')) ? readFileSync(at('ran'), 'utf8').trim().split('\n') : []),
      restore: [
        ...['run', 'restore-backup', '--instance', 'orders', '--backup', `${opened.server.backups[0]?.id}`],
        ...['--yes', '--confirm', 'orders'],
      ],
    };
  }

  const listed = async ({ run }: Pick<TestBench, 'run'>) => (await run('followups')).stdout;

  test('reconnect it, and their proof closes the recovery as proven', async (context) => {
    const { expect } = context;
    const opened = await withCommands(context);
    writeFileSync(opened.at('works'), '');
    const end = await opened.run(...opened.restore);
    expect(end.code, end.stderr).toBe(0);
    expect(opened.ran()).toEqual(['orders-api orders a b']);
    expect(`${end.stdout}${end.stderr}`).not.toMatch(/\bcf |unbind/u);
    const report = await opened.run('report', 'last', '--format', 'md');
    expect(report.stdout).toContain('proven by');
  });

  test('are checked by doctor, and not run', async (context) => {
    const { expect } = context;
    const opened = await withCommands(context);
    expect((await opened.run('doctor')).stdout).toMatch(
      /ok +orders: reconnect +1 application with commands/u,
    );
    rmSync(opened.at('prove'));
    const { code, stdout } = await opened.run('doctor');
    expect(code).toBe(1);
    expect(stdout).toContain(`not found, or not executable: ${opened.at('prove')}`);
    expect(opened.ran()).toEqual([]);
  });

  test('leave a follow-up whose end lets the run continue, which is announced before and reported after', async (context) => {
    const { expect } = context;
    const opened = await withCommands(context);
    expect((await opened.run(...opened.restore)).code).toBe(3);
    const closed = await opened.run('followups', 'done', ID, '--proof', 'bound by hand, ticket 7');
    expect(closed.code, closed.stderr).toBe(0);
    expect(closed.stderr).toMatch(
      /^with this one closed, its run goes on by itself: back up orders as it is now$/mu,
    );
    const lines = closed.stderr.trimEnd().split('\n');
    expect(lines.at(-1)).toMatch(
      /^the run went on by itself: back up orders as it is now \(by this run .+: backup \d+ is done\)$/u,
    );
    expect(lines.findIndex((line) => line.startsWith('with this one'))).toBeLessThan(
      lines.findIndex((line) => line.includes('asked for a backup')),
    );
  });

  test('run once where the proof fails, and again only when a person says so', async (context) => {
    const { expect } = context;
    const opened = await withCommands(context);
    const end = await opened.run(...opened.restore);
    expect(end.code, end.stderr).toBe(3);
    expect(`${end.stdout}${end.stderr}`).toContain('no pod is ready');
    expect(await listed(opened)).toContain(`lifeboat followups run ${ID} --again`);
    for (const words of [
      ['resume', '--yes'],
      ['followups', 'run', ID],
      ['followups', 'run', ID, '--yes'],
    ])
      expect((await opened.run(...words)).code, words.join(' ')).toBe(3);
    expect(opened.ran()).toHaveLength(1);
    writeFileSync(opened.at('works'), '');
    const again = await opened.run('followups', 'run', ID, '--again');
    expect(again.code, again.stderr).toBe(0);
    expect(opened.ran()).toHaveLength(2);
    expect(await listed(opened)).not.toContain(ID);
  });

  test('are not repeated when the process died while one was in progress', async (context) => {
    const { expect } = context;
    const opened = await withCommands(context);
    writeFileSync(opened.at('hang'), '');
    writeFileSync(opened.at('works'), '');
    const first = opened.start(...opened.restore);
    await expect.poll(opened.ran, { timeout: 60_000 }).toHaveLength(1);
    first.child.kill('SIGKILL');
    await first.ended;
    const resumed = await opened.run('resume', '--yes');
    expect(resumed.code, resumed.stderr).toBe(3);
    expect(`${resumed.stdout}${resumed.stderr}`).toContain('nobody knows how it ended');
    const asked = await opened.run('followups', 'run', ID);
    expect(asked.code).toBe(3);
    expect(asked.stderr).toContain('was begun before');
    expect(opened.ran()).toHaveLength(1);
    rmSync(opened.at('hang'));
    expect((await opened.run('followups', 'run', ID, '--again', '--yes')).code).toBe(0);
    expect(opened.ran()).toHaveLength(2);
    expect((await opened.run('audit', 'verify')).code).toBe(0);
  });
});
