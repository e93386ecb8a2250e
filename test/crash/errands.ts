import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended } from '../bench-kit/product.ts';
import type { Stage } from './stage.ts';

/**
 * A command that is not resumed by its words: it is typed again after its process has died, as a person would
 * who saw nothing of it.
 */
export interface Errand {
  readonly name: string;
  /**
   * Applications that the config names while no platform is there to be asked, so that a restore leaves a
   * follow-up.
   */
  readonly apps?: string;
  /** What the service needs for a task that is begun here. Milliseconds. */
  readonly taskMs?: number;
  /** Makes what the errand stands on; gives its words, all of them. */
  begin(stage: Omit<Stage, 'words' | 'from' | 'runsBefore' | 'written'>): Promise<readonly string[]>;
  /** Each attempt makes a key of its own, none of which may be lost. */
  readonly givesKeys?: true;
  /** How it ends undisturbed. */
  readonly code: number;
  /** What is typed after a process has ended otherwise: other words, or nothing more because all is done. */
  next(end: Ended, words: readonly string[]): readonly string[] | 'done' | undefined;
  /** What is wrong with what it has left, in words. */
  check?(stage: Stage): Promise<readonly string[]>;
}

const SURE = ['--yes', '--confirm', 'orders'] as const;
/**
 * What the next command meets after a process has died before its run was over, also where it has found out
 * what became of the call, and what is typed then.
 */
const STILL_OPEN = /^lifeboat: run \w+ on orders is still open|^hint: what is left of it: lifeboat resume /mu;
const RESUMED = ['resume', ...SURE] as const;
const BUNDLE = 'bundle.tar';

/**
 * One or more of each kind: a change by a command, closing a follow-up, handing out evidence.
 */
export const ERRANDS: readonly Errand[] = [
  {
    name: 'backups-restore',
    // A second restore while it is under way is stopped; once it is over, another one is another wish.
    taskMs: 600_000,
    begin: async ({ bench }) => {
      const [backup] = bench.server.backups;
      const alone = ['--no-follow-ups', 'a script does them'];
      return ['backups', 'restore', `${backup?.id}`, '--instance', 'orders', ...SURE, ...alone];
    },
    code: 0,
    next: ({ code, stderr }, words) => {
      if (STILL_OPEN.test(stderr)) return RESUMED;
      if (code === 3 && /has arrived as \d+|is under way|nothing was sent/u.test(stderr)) return 'done';
      return code === 1 && stderr.includes('never arrived') ? words : undefined;
    },
  },
  {
    name: 'config-set-key',
    begin: async () => ['backup-config', 'set', '--new-key', '--instance', 'orders', ...SURE],
    givesKeys: true,
    code: 0,
    next: ({ code, stderr }, words) => {
      if (STILL_OPEN.test(stderr)) return RESUMED;
      if (stderr.includes('has arrived')) return 'done';
      const isDoubt = /may still arrive|may or may not be set|never arrived|nothing was done/u.test(stderr);
      return isDoubt && code !== 2 ? words : undefined;
    },
  },
  {
    name: 'followups-done',
    apps: '    apps: [{ name: shop, space: prod, org: acme }]\n',
    begin: async ({ bench }) => {
      const [backup] = bench.server.backups;
      const restore = ['restore-backup', '--instance', 'orders', '--backup', `${backup?.id}`];
      await expectCode(bench.run('run', ...restore, ...SURE), 3);
      return ['followups', 'done', 'rebind-shop', '--proof', 'bound by hand, ticket 7', '--yes'];
    },
    code: 0,
    next: ({ code, stderr }) => {
      if (code !== 2) return undefined;
      if (/there is no open run|there are no runs/u.test(stderr)) return 'done';
      // The follow-up is already closed; the run may still have to be closed.
      return stderr.includes('no follow-up has the id') ? ['resume', ...SURE] : undefined;
    },
  },
  {
    name: 'audit-export',
    begin: async ({ bench }) => {
      await expectCode(bench.rotate(), 0);
      const run =
        (await bench.entries()).find(({ stream }) => stream.startsWith('run/'))?.stream.slice(4) ?? '';
      return ['audit', 'export', run, '--out', join(bench.folder, BUNDLE)];
    },
    code: 0,
    next: ({ stderr }) => (stderr.includes('already exists') ? 'done' : undefined),
    check: async ({ bench }) => {
      const out = join(bench.folder, BUNDLE);
      if (!existsSync(out)) return ['there is no bundle'];
      const pem = join(bench.folder, 'lifeboat.pub');
      writeFileSync(pem, (await bench.run('audit', 'key')).stdout);
      const verified = await bench.run('audit', 'verify', out, '--public-key', pem);
      const others = readdirSync(bench.folder).filter((name) => name.includes(BUNDLE) && name !== BUNDLE);
      return [
        ...(verified.code === 0 ? [] : [`the bundle is not good: ${verified.stdout.slice(-300)}`]),
        // What a killed process leaves beside it must not look like a bundle.
        ...others.filter((name) => name.endsWith('.tar')).map((name) => `${name} looks like a bundle`),
      ];
    },
  },
];

async function expectCode(ended: Promise<Ended>, wanted: number): Promise<void> {
  const { code, stderr } = await ended;
  if (code !== wanted) throw new Error(`what comes before ended with ${code}: ${stderr}`);
}
