import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestBench } from '../bench-kit/test-bench.ts';
import type { TrialDatabase } from './database.ts';

/**
 * What befalls the store after a process was killed: only the database was copied, yesterday's was put back,
 * or a place is gone.
 */
export type Accident = 'wal-lost' | 'yesterday' | 'place-lost';

/** Those that an engine can meet: a server of PostgreSQL does not come up without its log. */
export const ACCIDENTS = {
  sqlite: ['wal-lost', 'yesterday', 'place-lost'],
  postgres: ['yesterday', 'place-lost'],
} as const satisfies Readonly<Record<string, readonly Accident[]>>;

/** The further place of every bench that meets an accident, from the folder of its config. */
export const FURTHER_PLACE = 'elsewhere';

/** Keeps what may be put back later. To be called while no process writes. */
export async function prepareFor(
  accident: Accident | undefined,
  { home, folder }: Pick<TestBench, 'home' | 'folder'>,
  database: TrialDatabase | undefined,
): Promise<void> {
  if (accident !== 'yesterday') return;
  if (database !== undefined) await database.keep();
  else if (existsSync(join(home, DATABASE))) copyFileSync(join(home, DATABASE), join(folder, KEPT));
}

/** Lets it happen. */
export async function befall(
  accident: Accident,
  { home, folder }: Pick<TestBench, 'home' | 'folder'>,
  database: TrialDatabase | undefined,
): Promise<void> {
  if (accident === 'place-lost') return rmSync(join(home, 'checkpoints'), { recursive: true, force: true });
  if (database !== undefined) return database.putBack();
  for (const end of ['-wal', '-shm']) rmSync(join(home, `${DATABASE}${end}`), { force: true });
  if (accident === 'wal-lost') return;
  if (existsSync(join(folder, KEPT))) copyFileSync(join(folder, KEPT), join(home, DATABASE));
  else rmSync(join(home, DATABASE), { force: true });
}

const DATABASE = 'lifeboat.db';
const KEPT = 'yesterday.db';
