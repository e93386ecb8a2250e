import { expect, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { CASES, type State } from './cases.ts';
import { openTeam, type Team } from './team.ts';
import { LEASE_MS, strikeAt } from './trial.ts';

/*
 * Ada's call is hit, her machine is gone, and the database is put back to the state before it, or recreated.
 * Bob's home has seen nothing of the call: only the folder that both share has.
 */

const product = builtProduct({ cheapVault: true, leaseMs: LEASE_MS });
const DATABASE = 'lifeboat';
const KEPT = 'lifeboat_yesterday';

/** Where her call is, and whether a checkpoint of it lies in the folder then. */
const POINTS: readonly (readonly [State, boolean])[] = [
  ['armed', false],
  ['checkpoint written', true],
  ['sent', true],
  ['answer awaited', true],
  ['outcome written', true],
];
const CASE = CASES.filter(({ work, blow }) => work.name === 'backups restore' && blow === 'killed');

async function query({ servers }: Team, ...statements: readonly string[]): Promise<void> {
  for (const sql of statements) await servers.primary.query(sql);
}

const HURTS = {
  'put back to yesterday': async (team: Team) =>
    query(team, `drop database ${DATABASE} with (force)`, `create database ${DATABASE} template ${KEPT}`),
  'made anew': async (team: Team) => {
    await query(team, `drop database ${DATABASE} with (force)`, `create database ${DATABASE}`);
    expect(await team.bob.bench.run('store', 'init')).toMatchObject({ code: 0 });
  },
} as const;

const TABLE = POINTS.flatMap(([state, isSealed]) =>
  Object.entries(HURTS).map(([how, hurt]) => ({ state, isSealed, how, hurt })),
);

test.for(TABLE)(
  'a call of Ada is not sent again by Bob: $state, database $how',
  { timeout: 1_800_000 },
  async ({ state, isSealed, hurt }) => {
    const one = CASE.find((known) => known.state === state);
    if (one === undefined) throw new Error(`there is no case ${state}`);
    const team = await openTeam(product, { taskMs: 600_000 });
    try {
      const { ada, bob } = team;
      const { server } = ada.bench;
      const restores = () => server.calls.filter(({ path, did }) => path.endsWith('/restore') && did).length;
      await query(
        team,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${DATABASE}'`,
        `create database ${KEPT} template ${DATABASE}`,
      );
      const hit = Promise.withResolvers<void>();
      const hers = strikeAt(team, one, hit.resolve);
      await Promise.race([hit.promise, hers.ended]);
      hers.child.kill('SIGKILL');
      await hers.ended;
      ada.database.release();
      await hurt(team);
      const his = await bob.bench.run(...one.work.begin(bob.bench), '--yes', '--confirm', 'orders');
      expect(restores(), his.stderr).toBeLessThanOrEqual(1);
      if (!isSealed) return;
      expect(his.code, his.stderr).toBe(5);
      expect(his.stderr).toContain('armed in the lost part: restoreBackup on orders');
    } finally {
      await team.close();
    }
  },
);
