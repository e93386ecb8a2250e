import { parseArgs } from 'node:util';
import { sealedVictim } from '../audit/sealed-victim.ts';
import { sweepTamperings, type TamperingFigures } from '../audit/tampering-sweep.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { type Figures, type Kind, sweepImages } from '../store/disk/images.ts';
import { type Recording, recordRotation, recordWriter } from '../store/disk/record.ts';
import { canTrace } from './strace.ts';

/*
 * `node test/crash/storage.ts [--images N] [--tamperings N] [--seed S]`: what a disk may hold after a kill or
 * a power cut, and what an attacker may do to it. Records what a long writer and a rotation by the product
 * ask of the disk, lays out every prefix, every prefix with a torn last write, N images with unsynced writes
 * lost and reordered, and N/10 of a disk that lied, and opens each; then tampers N times with a store, its
 * checkpoints in two places and its files, and runs every check that the table names. Exit code 1 when a
 * promise was broken.
 */
const { values } = parseArgs({
  options: {
    images: { type: 'string', default: '5000' },
    tamperings: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
});
const count = Number(values.images);
const seed = Number(values.seed);

if (!canTrace()) {
  process.stderr.write('strace is not there or may not trace: nothing can be recorded\n');
  process.exit(2);
}

const began = performance.now();
const product = builtProduct({ cheapVault: true });
const recordings: readonly (readonly [string, Recording])[] = [
  ['writer', recordWriter([20, 290])],
  ['rotation', await recordRotation(product)],
];
const all: (readonly [string, Figures])[] = [];
for (const [name, recording] of recordings) {
  const half = Math.ceil(count / 2);
  const counts = {
    prefix: 'all',
    torn: 'all',
    'power cut': half,
    'lying disk': Math.ceil(half / 10),
  } as const;
  all.push([name, await sweepImages(recording, { seed, counts, onImage: (done) => tell(name, done) })]);
}
for (const [, { problems }] of all)
  for (const problem of problems) process.stderr.write(`BROKEN: ${problem}\n`);
process.stdout.write(`${tableOf(all)}\nseed ${seed}; ${Math.round((performance.now() - began) / 1000)} s\n`);
const tampered = await tamperings();
for (const one of tampered.missed) process.stderr.write(`MISSED: ${one}\n`);
process.stdout.write(`${tamperingTable(tampered)}\n`);
if (tampered.missed.length > 0 || all.some(([, { problems }]) => problems.length > 0)) process.exitCode = 1;

async function tamperings(): Promise<TamperingFigures> {
  const victim = await sealedVictim();
  try {
    return await sweepTamperings(victim, { count: Number(values.tamperings), seed });
  } finally {
    victim.remove();
  }
}

function tamperingTable({ cases, found, nobody, missed }: TamperingFigures): string {
  const titles = ['audit, key', 'audit', 'anchor', 'at an open', 'nobody', 'missed'];
  const cells = [found.key, found.none, found.anchor, found.guard, nobody, missed.length];
  const line = (name: string, columns: readonly (string | number)[]) =>
    `${name.padEnd(18)}${columns.map((column) => String(column).padStart(12)).join('')}`;
  return [line('tamperings', titles), line(`${cases}, found by`, cells)].join('\n');
}

function tell(name: string, done: number): void {
  if (done % 1000 === 0) process.stderr.write(`${name}: ${done} images\n`);
}

function tableOf(all: readonly (readonly [string, Figures])[]): string {
  const kinds: readonly Kind[] = ['prefix', 'torn', 'power cut', 'lying disk'];
  const titles = [...kinds, 'losses', 'found', 'broken'];
  const line = (name: string, cells: readonly (string | number)[]) =>
    `${name.padEnd(10)}${cells.map((cell) => String(cell).padStart(12)).join('')}`;
  const rows = all.map(([name, { images, losses, found, problems }]) =>
    line(name, [...kinds.map((kind) => images[kind]), losses, found, problems.length]),
  );
  return [line('images', titles), ...rows].join('\n');
}
