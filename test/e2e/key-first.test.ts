import { writeFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { personAt } from '../bench-kit/person.ts';
import { openTerminal } from '../bench-kit/terminal.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';

const PREPARE = ['run', 'disaster-recovery', '--instance', 'orders', '--prepare', '--yes'];
const PERFORM = [
  ...['run', 'disaster-recovery', '--instance', 'orders', '--target', 'orders-dr', '--perform'],
  ...['--yes', '--confirm', 'orders-dr'],
];
const SET_KEY = ['backup-config', 'set', '--instance', 'orders-dr', '--new-key', '--confirm', 'orders-dr'];

describe.concurrent('a backup that could not be opened', () => {
  const bench = useQuickBenches();

  test('is not requested after a recovery: the key of the target comes first, then the backup closes the run', async (context) => {
    const { expect } = context;
    const opened = await bench(context);
    const { product, run, server } = opened;
    expect((await run(...PREPARE)).code).toBe(0);
    const stopped = await run(...PERFORM);
    expect(stopped.code, stopped.stderr).toBe(3);
    expect(stopped.stderr).toContain('no key of orders-dr is held in ');
    expect(stopped.stderr).toContain('backup-config set --instance orders-dr --new-key');
    const target = server.instance('orders-dr');
    expect(target.backups).toHaveLength(0);
    const open = await run('followups');
    expect(open.code).toBe(3);
    expect(open.stdout).toContain('back up orders-dr');
    const set = await run(...SET_KEY, '--anyway', 'the run waits for it');
    expect(set.code, set.stderr).toBe(0);
    const { asks, ended, type } = personAt(openTerminal(product, opened, ['resume', '--plain']), expect);
    await asks(/1 try again/u);
    type('1\r');
    expect(await ended).toBe(0);
    expect(target.backups.map(({ key }) => key)).toEqual([target.keys.at(-1)]);
  });

  test('closes no follow-up where a key is held here and none is set at the service', async (context) => {
    const { expect } = context;
    const { run, server, folder } = await bench(context);
    expect((await run(...PREPARE)).code).toBe(0);
    writeFileSync(`${folder}/key`, 'a key that was never set at the service', { mode: 0o600 });
    expect((await run('keys', 'add', 'orders-dr', '--file', `${folder}/key`)).code).toBe(0);
    const stopped = await run(...PERFORM);
    expect(stopped.code, stopped.stderr).toBe(3);
    const [backup] = server.instance('orders-dr').backups;
    expect(stopped.stderr).toContain(
      `backup ${backup?.id} is done, and the service does not offer it for download: no key may have been set before it`,
    );
    const open = await run('followups');
    expect(open.code).toBe(3);
    expect(open.stdout).toContain('back up orders-dr');
  });

  test('is not requested by back-up-and-verify, which says which key is missing', async (context) => {
    const { expect } = context;
    const { run, server } = await bench(context, { firstDay: true });
    const before = server.backups.length;
    const stopped = await run('run', 'back-up-and-verify', '--instance', 'orders', '--yes');
    expect(stopped.code, stopped.stderr).toBe(3);
    expect(stopped.stderr).toContain('no key of orders is held in ');
    expect(stopped.stderr).toContain('lifeboat keys add orders');
    expect(server.backups).toHaveLength(before);
  });
});
