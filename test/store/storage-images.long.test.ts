import { beforeAll, expect, test } from 'vitest';
import { builtProduct } from '../bench-kit/product.ts';
import { describeWith } from '../keys/programs.ts';
import { type ImageOptions, sweepImages } from './disk/images.ts';
import { type Recording, recordRotation, recordWriter } from './disk/record.ts';

const SEED = 20261121;
const few = (counts: Partial<ImageOptions['counts']>): ImageOptions => ({
  seed: SEED,
  counts: { prefix: 0, torn: 0, 'power cut': 0, 'lying disk': 0, ...counts },
});

describeWith(['strace'], 'what a disk may hold after a kill or a power cut', () => {
  let writer: Recording;
  let rotation: Recording;
  beforeAll(async () => {
    writer = recordWriter([20, 290]);
    rotation = await recordRotation(builtProduct({ cheapVault: true }));
  });

  test('the recording includes SQLite writing its log into the database and restarting it', () => {
    const places = writer.steps.flatMap((step) =>
      step.do === 'write' && step.offset === 0 ? [step.path.slice(writer.home.length + 1)] : [],
    );
    expect(places.filter((path) => path === 'lifeboat.db-wal').length).toBeGreaterThanOrEqual(3);
    expect(writer.states).toHaveLength(311);
    expect(rotation.states.length).toBeGreaterThan(20);
  });

  test.each([
    ['a writer', () => writer],
    ['a rotation by the product', () => rotation],
  ])(
    'of %s opens, holds all that was acknowledged and nothing unwritten, and accepts appends',
    async (_of, recording) => {
      const options = few({ prefix: 40, torn: 30, 'power cut': 80 });
      const { problems, images } = await sweepImages(recording(), options);
      expect(problems).toEqual([]);
      expect(images.prefix + images.torn + images['power cut']).toBeGreaterThanOrEqual(150);
    },
  );

  test('a disk that only claims to have stored the database is exposed by the checkpoints', async () => {
    const { problems, losses, found } = await sweepImages(writer, few({ 'lying disk': 40 }));
    expect(problems).toEqual([]);
    expect(losses).toBeGreaterThan(10);
    expect(found).toBe(losses);
  });

  test('this test detects a writer that does not wait for the disk', async () => {
    const careless = { ...writer, steps: writer.steps.filter((step) => step.do !== 'sync') };
    const { problems } = await sweepImages(careless, few({ 'power cut': 20 }));
    expect(problems.length).toBeGreaterThan(10);
  });
});
