import { expect, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { openBench } from '../bench-kit/test-bench.ts';
import { describeWith } from '../keys/programs.ts';
import { goOnAfter, type Refusal, rotateOn } from './disk-trouble.ts';

const every = (refusal: Pick<Refusal, 'call' | 'file'>, from: readonly number[]): Refusal[] =>
  from.map((number, index) => ({ ...refusal, error: index % 2 === 0 ? 'ENOSPC' : 'EIO', from: number }));

/**
 * The journal's files, its checkpoints, the vault and the downloads; each early, in the middle and late, with
 * both errors. `any file` includes the journal's syncs, so its numbers lie between those of the journal.
 */
const REFUSALS: readonly Refusal[] = [
  ...every({ call: 'pwrite64', file: 'lifeboat.db-wal' }, [1, 17, 40, 101]),
  ...every({ call: 'fsync', file: 'lifeboat.db-wal' }, [1, 9, 19, 33]),
  ...every({ call: 'pwrite64', file: 'lifeboat.db' }, [1, 2]),
  ...every({ call: 'fsync', file: 'lifeboat.db' }, [1, 2]),
  ...every({ call: 'fsync' }, [6, 25, 51, 77, 90]),
  ...every({ call: 'rename' }, [1, 2, 5, 17, 40]),
  ...every({ call: 'link' }, [1, 2, 4, 6]),
  ...every({ call: 'openat', file: 'vault.age' }, [1, 3, 6]),
  ...every({ call: 'mkdir' }, [1, 2, 3, 4, 6]),
];

describeWith(['strace'], 'a disk that is full or broken in the middle of a rotation', () => {
  const product = builtProduct({ cheapVault: true });

  const named = REFUSALS.map((refusal) => ({ ...refusal, where: refusal.file ?? 'any file' }));
  test.for(named)(
    'ends it with a clear error, nothing unrecorded is sent, and it can be resumed normally: $error by $call on $where, from time $from on',
    async (refusal, { onTestFinished }) => {
      const bench = await openBench(product, { taskMs: 1, commandsHere: true });
      onTestFinished(() => bench.close());
      const { broken } = await goOnAfter(bench, await rotateOn(bench, refusal));
      expect(broken).toEqual([]);
    },
  );
});
