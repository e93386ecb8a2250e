import { join } from 'node:path';
import { describe, test } from 'vitest';
import type { Lab } from '../../src/lab/lab.ts';
import { type LabBench, type LabBenchOptions, useLabs } from '../bench-kit/lab-bench.ts';
import { answerIn, itemsIn } from '../bench-kit/results.ts';
import { hasPast } from './flows.ts';

describe.each([61, 62] as const)(
  'every endpoint from the command line, on the lab in revision %s',
  (revision) => {
    const labs = useLabs();

    test('is carried out on real databases, and is recorded in the ledgers', {
      timeout: 1_800_000,
    }, async (context) => {
      const { expect } = context;
      const bench = await labs(context, labOf(revision));
      const { lab } = bench;
      const { good, json } = commandsOf(bench);
      const [orders, standby] = ['orders', 'orders-dr'].map((name) => found(lab, name));
      const count = async (of: typeof orders) =>
        Number((await of?.query<{ n: string }>('select count(*) n from orders'))?.[0]?.n);

      expect(await json('instance', 'show')).toMatchObject({ name: 'orders', state: 'provisioned' });
      expect(await json('backup-config', 'get')).toMatchObject({ backup_type: 'continuous_archiving' });
      expect((await json('metrics')).length).toBeGreaterThan(10);
      expect(await good('metrics')).toContain('parachute opens at 80 %');

      const before = await count(orders);
      const backup = await json('backups', 'create', '--yes', '--wait');
      await good('backups', 'download', `${backup.id}`, '--out', 'file');
      await good('verify', 'file', '--instance', 'orders');
      await orders?.query('delete from order_lines; delete from orders');
      const alone = ['--no-follow-ups', 'a test'];
      const sure = ['--confirm', 'orders', '--wait', ...alone];
      const restore = await json('backups', 'restore', `${backup.id}`, ...sure);
      expect(restore).toMatchObject({ status: 'done', backup_id: backup.id });
      expect(await count(orders)).toBe(before);
      expect(await json('restores', 'get', `${restore.id}`)).toEqual(restore);
      expect(await json('restores', 'list')).toEqual([restore]);

      await good('backup-config', 'set', '--retention-time', '12', '--min-backup-count', '3', '--yes');
      expect(await json('backup-config', 'get')).toMatchObject({ retention_time: 12, min_backup_count: 3 });
      await good('backup-config', 'set', '--new-key', '--confirm', 'orders');
      const fresh = await json('backups', 'create', '--yes', '--wait');
      const listed = await json('backups', 'list');
      expect(listed.find(({ id }: { id: number }) => id === backup.id)).toMatchObject({
        downloadable: false,
      });
      expect(fresh).toMatchObject({ status: 'done', downloadable: true });

      const { backupGuid: guid } = JSON.parse(await good('dr', 'prepare', '--yes', '--json'));
      const keys = itemsIn<{ state: string; endedAt?: string; fingerprint: string }>(
        await good('keys', 'list', 'orders', '--json'),
      );
      const key =
        keys.find(({ state, endedAt }) => state === 'set' && endedAt === undefined)?.fingerprint ?? '';
      const perform = ['dr', 'perform', '--backup-guid', guid, '--source', 'orders', '--key'];
      const target = ['--instance', 'orders-dr', '--confirm', 'orders-dr', '--wait'];
      const other = keys.find(({ fingerprint }) => fingerprint !== key)?.fingerprint ?? '';
      await expect(good(...perform, other, ...target, ...alone)).rejects.toThrow('restore 1 is failed');
      // The attempt that failed stands in its list, and what is not fresh is not overwritten unasked.
      await expect(good(...perform, key, ...target)).rejects.toThrow('is not empty: it holds 1 restore');
      await good(...perform, key, ...target, '--anyway', 'only the attempt before is in it', ...alone);
      expect(await count(standby)).toBe(before);

      for (const verb of ['restart', 'update']) await good('instance', verb, '--yes', '--wait');
      await good('instance', 'recreate', '--confirm', 'orders', '--wait');
      expect(await json('instance', 'show')).toMatchObject({ state: 'available', available_updates: [] });
      // Its commands need no process, so that all of it may be over before there is a moment to go back to.
      if (revision === 62) await hasPast(bench);
      const range = await json('pitr', 'show');
      if (revision === 61) {
        await good('instance', 'settings', '--allow-updates', 'false', '--yes');
      } else {
        await orders?.query('delete from order_lines; delete from orders');
        const then = new Date(Date.parse(range.end_time) - 2_000).toISOString();
        await good('pitr', 'restore', '--to', then, ...sure);
        expect(await count(orders)).toBe(before);
      }
      await good('audit', 'verify');
      const did = lab.calls().map(({ instance, endpoint }) => `${instance} ${endpoint}`);
      expect(did.filter((call) => call === 'orders POST /backups')).toHaveLength(2);
      expect(did.filter((call) => call === 'orders-dr POST /disaster-recovery/perform')).toHaveLength(2);
    });
  },
);

/** A lab whose revision the product has to find out. */
function labOf(revision: 61 | 62): LabBenchOptions {
  const config = (yaml: string) => yaml.replaceAll(`revision: ${revision}`, 'revision: auto');
  return { revision, sampleApp: { rowsPerSecond: 0 }, config };
}

/** The commands of a bench, for `orders` unless they name another instance; `file` is one of the bench. */
function commandsOf({ folder, good: run }: LabBench) {
  const good = (...args: string[]) => {
    const named = args.includes('--instance') || ['verify', 'keys', 'audit'].includes(args[0] ?? '');
    const at = args.indexOf('file');
    if (at >= 0) args[at] = join(folder, 'file');
    return run(...args, ...(named ? [] : ['--instance', 'orders']));
  };
  const json = async (...args: string[]) => answerIn(await good(...args, '--json'));
  return { good, json };
}

function found(lab: Lab, name: string) {
  return lab.instances.find((instance) => instance.name === name);
}
