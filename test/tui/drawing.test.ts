import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { drawFromMemory } from '../../build/drawing.ts';
import { startLazily } from '../../build/plugins.ts';

const folder = mkdtempSync(join(tmpdir(), 'lifeboat-drawing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What Ink puts a frame together with. */
interface Output {
  write(x: number, y: number, text: string, options: { readonly transformers: readonly unknown[] }): void;
  clip(clip: Clip): void;
  unclip(): void;
  get(): { readonly output: string; readonly height: number };
}
interface Clip {
  readonly x1?: number | undefined;
  readonly x2?: number | undefined;
  readonly y1?: number | undefined;
  readonly y2?: number | undefined;
}
type NewOutput = new (size: { readonly width: number; readonly height: number }) => Output;

interface Ink {
  readonly Output: NewOutput;
  tokenize(text: string): readonly unknown[];
  styledCharsFromTokens(
    tokens: readonly unknown[],
  ): readonly { readonly value: string; readonly styles: readonly { readonly code: string }[] }[];
}

async function inkWith(name: string, plugins: Plugin[]): Promise<Ink> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: {
      contents: `export { default as Output } from './output.js';
        export { styledCharsFromTokens, tokenize } from '@alcalzone/ansi-tokenize';`,
      resolveDir: 'node_modules/ink/build',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    plugins,
    logLevel: 'error',
  });
  return await import(pathToFileURL(outfile).href);
}

const [bare, ours] = await Promise.all([inkWith('bare', []), inkWith('ours', [drawFromMemory, startLazily])]);

const WIDTH = 24;
const HEIGHT = 6;
const SIZE = { width: WIDTH, height: HEIGHT };

const piece = fc.oneof(
  fc.constantFrom('a', 'ready', ' ', '   ', 'ä', '界', '🚀', '👩‍💻', 'e\u0301', '\u200b', '│', '12:34'),
  fc.constantFrom(
    '\u001b[1m',
    '\u001b[2m',
    '\u001b[22m',
    '\u001b[31m',
    '\u001b[39m',
    '\u001b[44m',
    '\u001b[49m',
    '\u001b[7m',
    '\u001b[27m',
    '\u001b[0m',
    '\u001b[38;5;200m',
  ),
  fc.constantFrom('\n', ''),
);
const text = fc.array(piece, { minLength: 1, maxLength: 14 }).map((pieces) => pieces.join(''));
const edge = (most: number) => fc.option(fc.integer({ min: 0, max: most }), { nil: undefined });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ x: fc.integer({ min: 0, max: WIDTH }), y: fc.nat(HEIGHT), text }) },
  fc.record({ clip: fc.record({ x1: edge(WIDTH), x2: edge(WIDTH), y1: edge(HEIGHT), y2: edge(HEIGHT) }) }),
  fc.constant({ unclip: true as const }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** What is on the screen, cell for cell; in which order the styles of a cell were set does not show. */
function draw({ Output }: Ink, steps: readonly Step[]): readonly string[] {
  const output = new Output(SIZE);
  for (const one of steps) {
    if ('text' in one) output.write(one.x, one.y, one.text, { transformers: [] });
    else if ('clip' in one) output.clip(one.clip);
    else output.unclip();
  }
  const tokens = bare.tokenize(output.get().output);
  return bare.styledCharsFromTokens(tokens).map(
    ({ value, styles }) =>
      `${value} ${styles
        .map(({ code }) => code)
        .toSorted()
        .join()}`,
  );
}

test('frames that are drawn from memory equal those of Ink, cell for cell, whatever was drawn before', () => {
  // Frames of one film have most of their texts in common, as those of a screen have.
  const film = fc
    .array(step, { minLength: 4, maxLength: 12 })
    .chain((steps) => fc.array(fc.subarray(steps, { minLength: 1 }), { minLength: 2, maxLength: 6 }));
  fc.assert(
    fc.property(film, (frames) => {
      for (const steps of frames) expect(draw(ours, steps)).toEqual(draw(bare, steps));
    }),
    { numRuns: 2_000 },
  );
});

test('with more texts than the memory holds, the frames still equal those of Ink', () => {
  for (let frame = 0; frame < 300; frame += 1) {
    const steps = Array.from({ length: HEIGHT }, (_, y) => ({
      x: frame % 3,
      y,
      text: `\u001b[3${frame % 8}mrow ${y} of ${frame}\u001b[39m 界`,
    }));
    expect(draw(ours, steps)).toEqual(draw(bare, steps));
  }
});
